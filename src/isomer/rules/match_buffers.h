#pragma once
// Memory that the matchers of a thread use one after the other.

#include <cassert>
#include <vector>

#include "isomer/rules/expr.h"

namespace isomer {

/// What a matcher fills and empties again. A search makes a matcher for every rule at every node, and only one matches
/// at a time.
struct MatchBuffers {
  Binding binding;
  std::vector<NodeId> roots;
  std::vector<ValueId> root_values;
  std::vector<NodeId> matched;
  bool in_use = false;

  void begin() {
    assert(!in_use);
    in_use = true;
  }
  /// Keeps the memory. All is empty already, unless an exception ended the match.
  void end() {
    binding.values.clear();
    binding.sequences.clear();
    binding.attrs.clear();
    binding.records.clear();
    roots.clear();
    root_values.clear();
    matched.clear();
    in_use = false;
  }
};

}  // namespace isomer
