#pragma once
// Concatenations in place: their operands are computed directly into parts of one buffer.

#include <optional>
#include <span>
#include <vector>

#include "isomer/engine/onednn/forms.h"
#include "isomer/engine/onednn/fusion.h"

namespace isomer::onednn {

/// A part of the buffer of an outermost concatenation.
struct Part {
  ValueId root = kNoValue;  ///< the result of that concatenation
  int64_t offset = 0;       ///< in elements; meaningless if the graph is not canonical
  Form form = kPlainForm;
};

/// Assigns parts to values. Places only concatenations whose operands are consecutive in memory (others may lie in a
/// part as a whole). Layouts have channels in blocks of `block` if every operand fills its blocks and one of them comes
/// from a convolution, pool or normalization; else they are row-major. A concatenation within another one is in that
/// one's part. In a graph that is not canonical yet, a concatenation that begins with the operands of another counts as
/// one that begins with that one.
class ConcatPlaces {
 public:
  ConcatPlaces(const Graph& graph, int64_t block, Stage stage);

  /// Returns the part that its concatenation assigns to a value; nothing for most values.
  const std::optional<Part>& part(ValueId value) const { return parts_[value]; }
  /// Returns the operands of a concatenation; if another concatenation has joined the first ones already, its result
  /// replaces them.
  std::vector<ValueId> operands(const Node& concat) const;
  /// Returns whether a concatenation is complete as soon as its operands are in their places.
  bool joins_in_place(const Node& concat) const;

 private:
  void find_beginnings();
  bool lies_in_a_row(const Node& concat) const;
  bool fits(const Node& concat) const;
  bool all_fill_blocks(std::span<const ValueId> operands) const;
  bool wants_blocks(std::span<const ValueId> operands, const Node& concat) const;
  bool likes_blocks(ValueId value, int depth) const;
  void place(const Node& concat);

  const Graph& graph_;
  const int64_t block_;
  const Stage stage_;
  struct Beginning {
    ValueId whole = kNoValue;
    size_t length = 0;
  };
  std::vector<Beginning> beginnings_;  // by result of a concatenation
  std::vector<std::optional<Part>> parts_;
};

}  // namespace isomer::onednn
