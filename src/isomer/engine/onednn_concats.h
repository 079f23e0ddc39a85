#pragma once
// Where concatenations of the own runtime are filled in place, foreseen.

#include <optional>
#include <span>
#include <vector>

#include "isomer/ir/graph.h"
#include "isomer/runtime/onednn/conv_forms.h"

namespace isomer {

/// The place of a value in the buffer of an outermost concatenation.
struct ForeseenPart {
  ValueId root = kNoValue;
  onednn::Form form = onednn::kPlainForm;
};

/// As onednn::place_concats, on a graph that is not canonical yet: a concatenation that begins with the operands of
/// another begins with that one.
class ForeseenConcats {
 public:
  ForeseenConcats(const Graph& graph, int64_t block);

  /// Nothing for most values.
  const std::optional<ForeseenPart>& part(ValueId value) const { return parts_[value]; }
  /// The operands of a concatenation, the first ones joined where another one has joined them already.
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
