#include "random_graph.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "isomer/base/rng.h"
#include "isomer/check/instances.h"
#include "isomer/eval/random.h"
#include "isomer/ir/builder.h"
#include "isomer/ops/registry.h"

namespace isomer::differential {
namespace {

constexpr int64_t kMaxElements = 2000;  // of a value that is read further

int64_t elements(const Ints& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

class Composer {
 public:
  Composer(const std::vector<Rule>& rules, uint64_t seed)
      : rules_(rules), rng_(seed), element_(rng_.below(10) == 0 ? DType::Int64 : DType::Float) {}

  RandomGraph build() {
    const size_t parts = 1 + rng_.below(3);
    for (size_t tries = 0; planted_.size() < parts && tries < kTries; ++tries) {
      plant(rules_[rng_.below(rules_.size())]);
      for (uint64_t others = rng_.below(4); others > 0 && !values_.empty(); --others) other();
    }
    return {builder_.finish(outputs()), planted_};
  }

 private:
  static constexpr size_t kTries = 50;
  static constexpr size_t kStepsPerInstance = 2000;

  bool coin() { return rng_.below(2) == 0; }
  const TensorType& type(ValueId value) const { return builder_.type(value); }
  Ints dims(ValueId value) const { return *concrete(*type(value).shape); }
  bool computable(ValueId value) const {
    return type(value).dtype == element_ && concrete(*type(value).shape) && elements(dims(value)) <= kMaxElements;
  }

  /// One of the small graphs that the rule's source describes, if one is found soon.
  std::optional<Instance> instance(const Rule& rule) {
    static const std::vector<Ints> kExtents = {{1, 2, 3, 4, 5}, {1, 2, 3}, {2, 3, 5}, {2, 4}, {1, 3, 4}, {2}};
    const InstanceBounds bounds{.element = element_,
                                .rank = 1 + static_cast<size_t>(rng_.below(4)),
                                .extents = kExtents[rng_.below(kExtents.size())],
                                .sample = rng_.next() | 1};
    std::optional<Instance> found;
    uint64_t passed = rng_.below(6);
    for_each_instance(rule, bounds, kStepsPerInstance, [&](const Instance& one) {
      found = one;
      return passed-- > 0;
    });
    return found;
  }

  /// Builds an instance upon what is there.
  void plant(const Rule& rule) {
    const std::optional<Instance> part = instance(rule);
    if (!part) return;
    std::vector<ValueId> made(part->values.size(), kNoValue);
    for (size_t i = 0; i < made.size(); ++i) {
      const Instance::Value& value = part->values[i];
      if (value.kind == Instance::Value::Kind::Input)
        made[i] = source(value.type);
      else if (value.kind == Instance::Value::Kind::Weight)
        made[i] = builder_.constant(random_tensor(value.type.dtype, *concrete(*value.type.shape), rng_.next()));
      else if (value.kind != Instance::Value::Kind::Result)
        made[i] = builder_.constant(constant_tensor(value));
    }
    for (const Instance::Node& node : part->nodes) {
      std::vector<ValueId> operands;
      for (const ValueId id : node.operands) operands.push_back(id == kNoValue ? kNoValue : made[id]);
      const auto results = add(*node.op, node.attrs, operands, node.num_results);
      if (results.empty()) return;
      std::ranges::copy(results, made.begin() + node.first_result);
    }
    planted_.push_back(&rule);
  }

  /// The results of a new node; none where it is ill typed.
  std::vector<ValueId> add(const OpDef& op, const Attrs& attrs, const std::vector<ValueId>& operands,
                           size_t num_results = 0) {
    const auto node = builder_.node(op, attrs, operands, num_results);
    if (!node) return {};
    std::vector<ValueId> results(builder_.at(*node).num_results);
    std::iota(results.begin(), results.end(), builder_.at(*node).result());
    for (const ValueId id : operands)
      if (id != kNoValue) std::erase(unread_, id);
    for (const ValueId result : results) {
      if (std::ranges::find(values_, result) != values_.end()) continue;  // an equal node stood there before
      values_.push_back(result);
      unread_.push_back(result);
    }
    return results;
  }
  std::vector<ValueId> add(const char* name, const Attrs& attrs, const std::vector<ValueId>& operands) {
    return add(op(name), attrs, operands);
  }

  /// A value of this type: one that is there, one that is made to fit, or an input.
  ValueId source(const TensorType& wanted) {
    std::vector<ValueId> equal;
    std::ranges::copy_if(values_, std::back_inserter(equal), [&](ValueId value) { return type(value) == wanted; });
    if (!equal.empty() && rng_.below(4) != 0) return equal[rng_.below(equal.size())];
    if (wanted.dtype == element_ && rng_.below(3) != 0) {
      for (int tries = 0; tries < 3 && !values_.empty(); ++tries) {
        const ValueId value = values_[rng_.below(values_.size())];
        const auto fitted = computable(value) ? fit(value, *concrete(*wanted.shape)) : std::nullopt;
        if (fitted && type(*fitted) == wanted) return *fitted;
      }
    }
    const ValueId input = builder_.input(wanted);
    values_.push_back(input);
    return input;
  }

  std::optional<ValueId> fit(ValueId value, const Ints& wanted) {
    const Ints have = dims(value);
    const auto only = [](const std::vector<ValueId>& results) {
      return results.empty() ? std::nullopt : std::optional(results[0]);
    };
    if (elements(have) == elements(wanted)) return only(add("Reshape", {{"shape", wanted}}, {value}));
    if (have.size() != wanted.size()) return only(add("Expand", {{"shape", wanted}}, {value}));
    const auto rank = static_cast<int64_t>(have.size());
    Ints axes, starts, ends;
    Ints pads(2 * have.size(), 0);
    for (int64_t axis = 0; axis < rank; ++axis) {
      const int64_t from = have[axis], to = wanted[axis];
      if (to < from) {
        axes.push_back(coin() ? axis : axis - rank);
        starts.push_back(rng_.between(0, from - to));
        ends.push_back(starts.back() + to);
      } else if (to > from) {
        pads[axis] = rng_.between(0, to - from);
        pads[rank + axis] = to - from - pads[axis];
      }
    }
    std::optional<ValueId> out = value;
    if (!axes.empty()) out = only(add("Slice", {{"axes", axes}, {"starts", starts}, {"ends", ends}}, {*out}));
    if (out && std::ranges::any_of(pads, [](int64_t pad) { return pad > 0; }))
      out = only(add("Pad", {{"pads", pads}}, {*out}));
    return out;
  }

  /// Another node over values that are there, if it is well typed.
  void other() {
    const ValueId x = values_[rng_.below(values_.size())];
    const ValueId y = values_[rng_.below(values_.size())];
    if (!computable(x) || !computable(y) || type(x).rank() == 0) return;
    const auto rank = static_cast<int64_t>(type(x).rank());
    const int64_t axis = rng_.between(-rank, rank - 1);
    static const char* const kUnary[] = {"Relu", "Tanh", "Neg", "Sigmoid", "Abs", "Identity", "LeakyRelu", "Erf"};
    static const char* const kBinary[] = {"Add", "Sub", "Mul", "Max", "Min", "Add", "Mul"};
    static const char* const kReduce[] = {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceSumSquare"};
    switch (rng_.below(12)) {
      case 0:
      case 1:
        add(kUnary[rng_.below(std::size(kUnary))], {}, {x});
        break;
      case 2:
      case 3:
      case 4:
        add(kBinary[rng_.below(std::size(kBinary))], {}, {x, y});
        break;
      case 5:
        add("Mul", {}, {x, scalar(static_cast<double>(rng_.between(-1, 2)))});
        break;
      case 6: {
        Ints perm(static_cast<size_t>(rank));
        std::iota(perm.begin(), perm.end(), 0);
        for (size_t i = perm.size(); i > 1; --i) std::swap(perm[i - 1], perm[rng_.below(i)]);
        add("Transpose", {{"perm", perm}}, {x});
        break;
      }
      case 7:
        add("Concat", {{"axis", axis}}, coin() ? std::vector{x, y} : std::vector{x, x, y});
        break;
      case 8:
        add(kReduce[rng_.below(std::size(kReduce))], {{"axes", Ints{axis}}, {"keepdims", rng_.between(0, 1)}}, {x});
        break;
      case 9:
        add("Softmax", {{"axis", axis}}, {x});
        break;
      case 10: {
        const int64_t extent = dims(x)[axis < 0 ? axis + rank : axis];
        if (extent == 1) break;
        const int64_t first = rng_.between(1, extent - 1);
        add("Split", {{"axis", axis}, {"split", Ints{first, extent - first}}}, {x});
        break;
      }
      default:
        add("MatMul", {}, {x, y});
        break;
    }
  }

  ValueId scalar(double value) {
    if (element_ == DType::Int64) return builder_.constant(Tensor::ints({}, {static_cast<int64_t>(value)}));
    return builder_.constant(Tensor::floats({}, {static_cast<float>(value)}));
  }

  /// What nothing reads, and sometimes a value within.
  std::vector<ValueId> outputs() {
    std::vector<ValueId> out = unread_;
    if (!values_.empty() && rng_.below(3) == 0) {
      const ValueId within = values_[rng_.below(values_.size())];
      if (std::ranges::find(out, within) == out.end()) out.push_back(within);
    }
    return out;
  }

  const std::vector<Rule>& rules_;
  Rng rng_;
  const DType element_;
  GraphBuilder builder_;
  std::vector<ValueId> values_;  // inputs and results
  std::vector<ValueId> unread_;  // results
  std::vector<const Rule*> planted_;
};

}  // namespace

RandomGraph random_graph(const std::vector<Rule>& rules, uint64_t seed) { return Composer(rules, seed).build(); }

}  // namespace isomer::differential
