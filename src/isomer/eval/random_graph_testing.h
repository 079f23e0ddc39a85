#pragma once
// Random typed graphs for tests of rewriting and searches.

#include <gtest/gtest.h>

#include "isomer/base/rng.h"
#include "isomer/eval/random.h"
#include "isomer/ir/builder.h"
#include "isomer/ops/registry.h"

namespace isomer {

/// Random graphs over 2 x 2 matrices that contain many matches of the written rules.
class RandomMatrixGraph {
 public:
  /// `nodes`: the number of operators, or of short chains of them.
  explicit RandomMatrixGraph(uint64_t seed, int nodes = 14) : rng_(seed), nodes_(nodes) {
    for (int i = 0; i < 3; ++i) values_.push_back(builder_.input({DType::Double, {2, 2}}));
    for (int i = 0; i < 2; ++i) values_.push_back(builder_.constant(random_tensor(DType::Double, {2, 2}, rng_.next())));
  }

  Graph build() {
    for (int i = 0; i < nodes_; ++i) values_.push_back(next());
    const std::vector<ValueId> outputs = {values_[values_.size() - 1], values_[values_.size() - 4]};
    return builder_.finish(outputs);
  }

 private:
  /// Returns mostly one of the latest values, so that graphs become deep.
  ValueId pick() {
    const size_t window = rng_.below(3) == 0 ? values_.size() : std::min<size_t>(values_.size(), 6);
    return values_[values_.size() - 1 - rng_.below(window)];
  }

  ValueId add(const char* name, const Attrs& attrs, std::initializer_list<ValueId> operands) {
    const auto value = builder_.add(op(name), attrs, operands);
    EXPECT_TRUE(value.has_value()) << (value ? "" : value.error().message);
    return *value;
  }

  ValueId literal(double value) { return builder_.constant(Tensor::of<double>(DType::Double, {1}, {value})); }

  ValueId next() {
    switch (rng_.below(16)) {
      case 0:
        return add("Relu", {}, {pick()});
      case 1:
        return add("Tanh", {}, {pick()});
      case 2:
        return add("Transpose", {{"perm", Ints{1, 0}}}, {pick()});
      case 3:
        return add("Neg", {}, {pick()});
      case 4:
      case 5:
        return add("Add", {}, {pick(), pick()});
      case 6:
        return add("Sub", {}, {pick(), pick()});
      case 7:
      case 8:
        return add("Mul", {}, {pick(), pick()});
      case 9:
      case 10:
      case 11:
        return add("MatMul", {}, {pick(), pick()});
      case 12:
        return add("Mul", {}, {pick(), literal(static_cast<double>(rng_.below(3)))});
      case 13:
        return add("Add", {}, {pick(), literal(static_cast<double>(rng_.below(2)))});
      case 14:
        return add("Reshape", {{"shape", Ints{2, 2}}}, {add("Reshape", {{"shape", Ints{4}}}, {pick()})});
      default:
        return through_concat();
    }
  }

  ValueId through_concat() {
    const auto axis = static_cast<int64_t>(rng_.below(2));
    const ValueId joined = add("Concat", {{"axis", axis}}, {pick(), pick()});
    const ValueId relu = rng_.below(2) == 0 ? add("Relu", {}, {joined}) : joined;
    const auto split = builder_.node(op("Split"), {{"axis", axis}, {"split", Ints{2, 2}}}, {&relu, 1});
    EXPECT_TRUE(split.has_value()) << (split ? "" : split.error().message);
    return builder_.at(*split).result(static_cast<uint32_t>(rng_.below(2)));
  }

  Rng rng_;
  const int nodes_;
  GraphBuilder builder_;
  std::vector<ValueId> values_;
};

}  // namespace isomer
