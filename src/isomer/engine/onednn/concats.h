#pragma once
// Predicts which concatenations the built-in runtime fills in place.

#include <optional>
#include <span>
#include <vector>

#include "isomer/engine/onednn/conv_forms.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// The place of a value in the buffer of an outermost concatenation.
struct ForeseenPart {
  ValueId root = kNoValue;
  onednn::Form form = onednn::kPlainForm;
};

/// Like onednn::place_concats, for a graph that is not canonical yet: a concatenation that begins with the operands of
/// another begins with that one.
class ForeseenConcats {
 public:
  ForeseenConcats(const Graph& graph, int64_t block);

  /// Returns the place of a value; nothing for most values.
  const std::optional<ForeseenPart>& part(ValueId value) const { return parts_[value]; }
  /// Returns the operands of a concatenation; if another concatenation has joined the first ones already, its result
  /// replaces them.
  std::vector<ValueId> operands(const Node& concat) const;

 private:
  void find_beginnings();
  bool in_place(const Node& concat) const;
  bool fits_blocks(std::span<const ValueId> operands, const Node& concat) const;
  bool likes_blocks(ValueId value, int depth) const;
  void place(const Node& concat);

  const Graph& graph_;
  const int64_t block_;
  struct Beginning {
    ValueId whole = kNoValue;
    size_t length = 0;
  };
  std::vector<Beginning> beginnings_;  // by result of a concatenation
  std::vector<std::optional<ForeseenPart>> parts_;
};

}  // namespace isomer
