#include "isomer/engine/onednn/einsum_product.h"

#include <algorithm>
#include <map>

#include "isomer/engine/onednn/rearranged.h"
#include "isomer/ops/einsum.h"
#include "isomer/ops/registry.h"

namespace isomer::onednn {
namespace {

bool holds(const EinsumTerm& term, EinsumLabel label) { return std::ranges::find(term, label) != term.end(); }

/// A product of two operands over named axes. Axes of the result that are in both operands count matrices, those that
/// are in only one are its rows or columns, and the rest are summed.
class TwoTerms {
 public:
  TwoTerms(GraphBuilder& builder, EinsumEquation equation, std::span<const ValueId> operands)
      : builder_(builder), equation_(std::move(equation)), operands_(operands) {}

  Result<std::optional<ValueId>> run() {
    const std::optional<ValueId> none;
    if (!sort_labels()) return none;
    if (rows_.empty() && columns_.empty() && summed_.empty()) return elements();
    ISOMER_TRY(const ValueId a, matrices(0, rows_, summed_));
    ISOMER_TRY(const ValueId b, matrices(1, summed_, columns_));
    ISOMER_TRY(ValueId y, builder_.add(*find_op("MatMul"), {}, {a, b}));
    EinsumTerm made = counted_;
    made.insert(made.end(), rows_.begin(), rows_.end());
    made.insert(made.end(), columns_.begin(), columns_.end());
    ISOMER_TRY(y, reshaped(builder_, y, extents_of_labels(made)));
    ISOMER_TRY(y, transposed(builder_, y, order(made, equation_.result)));
    return std::optional(y);
  }

 private:
  /// Returns false if the equation is not a product of matrices.
  bool sort_labels() {
    for (size_t i = 0; i < 2; ++i) {
      const EinsumTerm& term = equation_.operands[i];
      const Ints extents = extents_of(builder_, operands_[i]);
      if (extents.size() != term.size()) return false;  // not known yet
      for (size_t axis = 0; axis < term.size(); ++axis) {
        if (std::ranges::count(term, term[axis]) > 1 || extents[axis] == 0) return false;
        const auto [at, fresh] = extents_.emplace(term[axis], extents[axis]);
        if (!fresh && at->second != extents[axis]) return false;  // repeated
      }
    }
    for (const auto& [label, extent] : extents_) {
      const bool in_both = holds(equation_.operands[0], label) && holds(equation_.operands[1], label);
      if (!in_both && !holds(equation_.result, label)) return false;
      if (in_both && !holds(equation_.result, label)) summed_.push_back(label);
    }
    for (const EinsumLabel label : equation_.result) {
      const bool in_a = holds(equation_.operands[0], label), in_b = holds(equation_.operands[1], label);
      (in_a && in_b ? counted_ : in_a ? rows_ : columns_).push_back(label);
    }
    return true;
  }

  /// For equations in which all labels are in both operands and in the result.
  Result<std::optional<ValueId>> elements() {
    ISOMER_TRY(const ValueId a, transposed(builder_, operands_[0], order(equation_.operands[0], equation_.result)));
    ISOMER_TRY(const ValueId b, transposed(builder_, operands_[1], order(equation_.operands[1], equation_.result)));
    return builder_.add(*find_op("Mul"), {}, {a, b}).map([](ValueId y) { return std::optional(y); });
  }

  /// Returns the positions of the labels of `to` in `from`.
  static Ints order(const EinsumTerm& from, const EinsumTerm& to) {
    Ints perm;
    for (const EinsumLabel label : to) perm.push_back(std::ranges::find(from, label) - from.begin());
    return perm;
  }

  /// Returns an operand as matrices whose rows and columns are counted by these labels.
  Result<ValueId> matrices(size_t operand, const EinsumTerm& rows, const EinsumTerm& columns) {
    constexpr size_t kMaxAxes = 3;  // with more, oneDNN has fewer kernels, and none from 12 axes on
    EinsumTerm labels = counted_;
    labels.insert(labels.end(), rows.begin(), rows.end());
    labels.insert(labels.end(), columns.begin(), columns.end());
    const Ints perm = order(equation_.operands[operand], labels);
    Ints extents = extents_of_labels(counted_);
    if (extents.size() > kMaxAxes) extents = {product(counted_)};
    extents.push_back(product(rows));
    extents.push_back(product(columns));
    ISOMER_TRY(const ValueId ordered, transposed(builder_, operands_[operand], perm));
    return reshaped(builder_, ordered, extents);
  }

  Ints extents_of_labels(const EinsumTerm& labels) const {
    Ints extents;
    for (const EinsumLabel label : labels) extents.push_back(extents_.at(label));
    return extents;
  }
  int64_t product(const EinsumTerm& labels) const {
    int64_t count = 1;
    for (const EinsumLabel label : labels) count *= extents_.at(label);
    return count;
  }

  GraphBuilder& builder_;
  const EinsumEquation equation_;
  const std::span<const ValueId> operands_;
  std::map<EinsumLabel, int64_t> extents_;
  EinsumTerm counted_, rows_, columns_, summed_;
};

}  // namespace

Result<std::optional<ValueId>> einsum_product(GraphBuilder& builder, const Node& node,
                                              std::span<const ValueId> operands) {
  if (operands.size() != 2) return std::optional<ValueId>();
  std::vector<size_t> ranks;
  for (const ValueId operand : operands) ranks.push_back(builder.type(operand).rank());
  ISOMER_TRY(auto equation, parse_einsum(node.attrs.text("equation"), ranks));
  return TwoTerms(builder, std::move(equation), operands).run();
}

}  // namespace isomer::onednn
