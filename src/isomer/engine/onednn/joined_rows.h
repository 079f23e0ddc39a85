#pragma once
// Products of joined rows that are computed part by part anyway. The gradient of a recurrent layer multiplies all
// states by their weights; if the layer is written step by step (unrolled.h), each step has made its part of that
// product.

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isomer/ir/builder.h"

namespace isomer::onednn {

/// Finds such products, and sums of their results, among the nodes of a builder. Rows are the elements along the first
/// axis.
class JoinedRows {
 public:
  explicit JoinedRows(GraphBuilder& builder) : builder_(builder) {}

  /// Returns the concatenation of existing values that equals the result of a node over these operands, but for
  /// rounding; nothing for most nodes. The concatenation is added to the builder.
  Result<std::optional<ValueId>> joined(const Node& node, std::span<const ValueId> operands);

 private:
  std::optional<size_t> leading_operand(const Node& node, std::span<const ValueId> operands) const;
  std::optional<ValueId> rows_of(ValueId value, int64_t first, int64_t end);
  /// A value that is some rows of another one.
  struct Part {
    ValueId value = kNoValue;
    int64_t rows = 0;
  };
  using Parts = std::vector<Part>;
  const Parts& parts(ValueId value, int depth = 0);
  Parts find_parts(ValueId value, int depth);
  Parts parts_of_slice(const Node& slice, int depth);
  ValueId without_views(ValueId value, int depth) const;

  GraphBuilder& builder_;
  std::unordered_map<ValueId, Parts> parts_;  // empty: unknown
  std::unordered_set<ValueId> joined_;        // what was returned
};

}  // namespace isomer::onednn
