#include "isomer/eval/weight_check.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <optional>

#include "isomer/base/parallel.h"
#include "isomer/eval/executor.h"
#include "isomer/ops/kernel_deadline.h"
#include "isomer/ops/kernel_types.h"

namespace isomer {
namespace {

/// Maximum number of bytes by which a weight may exceed the weights that it is computed from.
constexpr size_t kMaxGrowth = size_t{64} << 20;
/// Maximum number of bytes of computed weights that are kept.
constexpr size_t kMaxKept = size_t{256} << 20;
/// Weights are kept if computing them takes at least this many FLOPs for each of their bytes. Products of matrices do;
/// a few elementwise operators need about as long as reading a kept weight.
constexpr double kMinKeptWork = 4;
/// Starting threads takes longer than computing less than so many bytes of weights.
constexpr size_t kMinParallel = size_t{1} << 20;

using Elements = std::optional<Tensor>;

/// Returns whether an element of 16, 32 or 64 bits is an infinity, NaN or zero. `exponent` is the mask of the exponent.
template <class Bits>
bool has_extreme(const Tensor& tensor, Bits exponent) {
  return std::ranges::any_of(tensor.data<Bits>(), [exponent](Bits bits) {
    return (bits & exponent) == exponent || static_cast<Bits>(bits << 1) == 0;
  });
}

bool has_extreme(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::Half:
      return has_extreme<uint16_t>(tensor, 0x7c00);
    case DType::BFloat16:
      return has_extreme<uint16_t>(tensor, 0x7f80);
    case DType::Double:
      return has_extreme<uint64_t>(tensor, uint64_t{0x7ff} << 52);
    default:
      return has_extreme<uint32_t>(tensor, 0x7f800000);
  }
}

bool is_extreme(double x) { return !std::isfinite(x) || x == 0; }

bool is_same_extreme(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

size_t bytes_of(std::span<const Tensor> tensors) {
  size_t sum = 0;
  for (const Tensor& tensor : tensors)
    if (!tensor.empty()) sum += tensor.bytes().size();
  return sum;
}

/// Computes values of a graph that depend only on constants.
class Evaluation {
 public:
  Evaluation(const Graph& graph, const std::unordered_set<uint64_t>& own, const Deadline& end)
      : graph_(graph), own_(own), end_(end) {}

  /// Computes node by node, in the precision of the graph.
  Result<Tensor> stored(ValueId value) {
    return evaluate(
        value, [&](ValueId v) { return constant(v); },
        [&](const Node& node, std::span<const Tensor> operands) -> Result<std::vector<Tensor>> {
          ISOMER_TRY(std::vector<Tensor> results, run_node(graph_, node, operands));
          flops_ += flops(node, operands, results);
          return results;
        });
  }

  /// Returns the FLOPs of all calls of `stored`.
  double flops() const { return flops_; }

  /// Computes in double precision from the constants and the model's own weights, without rounding in between.
  Result<Tensor> exact(ValueId value) {
    return evaluate(
        value, [&](ValueId v) { return source(v); },
        [&](const Node& node, std::span<const Tensor> operands) { return run_in_double(node, operands); });
  }

  /// Returns whether `exact` exceeded the range of double precision, so that its infinities and zeros mean nothing.
  bool left_double() const { return left_double_; }

 private:
  Result<Elements> constant(ValueId value) const {
    const Tensor* data = graph_.constant(value);
    return data == nullptr ? Elements() : Elements(*data);
  }

  Result<Elements> source(ValueId value) {
    if (const Tensor* data = graph_.constant(value)) return Elements(in_double(*data));
    if (!own_.contains(graph_.value_hash(value))) return Elements();
    ISOMER_TRY(const Tensor own, stored(value));
    return Elements(in_double(own));
  }

  Result<std::vector<Tensor>> run_in_double(const Node& node, std::span<const Tensor> operands) {
    Node wide = node;
    wide.attrs = in_double(node.attrs);
    if (node.op->has(Trait::Conversion) && is_real(graph_.type(node.result()).dtype))
      wide.attrs = wide.attrs.with("to", static_cast<int64_t>(DType::Double));
    std::feclearexcept(FE_ALL_EXCEPT);
    ISOMER_TRY(std::vector<Tensor> results, run_node(graph_, wide, operands));
    if (std::fetestexcept(FE_OVERFLOW | FE_UNDERFLOW) != 0) left_double_ = true;
    for (Tensor& result : results) result = in_double(result);
    return results;
  }

  static double flops(const Node& node, std::span<const Tensor> operands, std::span<const Tensor> results) {
    std::vector<std::vector<int64_t>> from, to;
    for (const Tensor& tensor : operands) from.push_back(tensor.empty() ? std::vector<int64_t>() : tensor.dims());
    for (const Tensor& tensor : results) to.push_back(tensor.dims());
    return node.op->flops(WorkView{node.attrs, from, to});
  }

  /// Computes a value and everything that it needs, down to the values that are `known`.
  template <class Known, class Run>
  Result<Tensor> evaluate(ValueId value, const Known& known, const Run& run) const {
    const NodeId last = graph_.producer(value);
    std::vector<bool> needed(last + 1, false);
    std::vector<bool> wanted(graph_.num_values(), false);
    std::map<ValueId, Tensor> data;
    wanted[value] = true;
    for (NodeId id = last + 1; id-- > 0;) {
      const Node& node = graph_.node(id);
      for (uint32_t r = 0; r < node.num_results; ++r) {
        if (!wanted[node.result(r)]) continue;
        ISOMER_TRY(Elements elements, known(node.result(r)));
        if (elements)
          data.emplace(node.result(r), std::move(*elements));
        else
          needed[id] = true;
      }
      if (!needed[id]) continue;
      for (const ValueId operand : graph_.operands(node))
        if (operand != kNoValue) wanted[operand] = true;
    }
    for (NodeId id = 0; id <= last; ++id)
      if (needed[id]) ISOMER_CHECK(compute(graph_.node(id), data, run));
    return std::move(data.at(value));
  }

  template <class Run>
  Status compute(const Node& node, std::map<ValueId, Tensor>& data, const Run& run) const {
    if (end_.passed()) return fail("there is no time left to compute it");
    std::vector<Tensor> operands;
    for (const ValueId operand : graph_.operands(node))
      operands.push_back(operand == kNoValue ? Tensor() : data.at(operand));
    ISOMER_CHECK(check_size(node, bytes_of(operands)));
    ISOMER_TRY(std::vector<Tensor> results, run(node, operands));
    for (uint32_t r = 0; r < node.num_results; ++r) data.emplace(node.result(r), std::move(results[r]));
    return {};
  }

  Status check_size(const Node& node, size_t operands) const {
    for (uint32_t r = 0; r < node.num_results; ++r) {
      const TensorType& type = graph_.type(node.result(r));
      if (Tensor::byte_size(type).value_or(0) > kMaxGrowth + operands)
        return fail("{} is too large to be computed", type.str());
    }
    return {};
  }

  const Graph& graph_;
  const std::unordered_set<uint64_t>& own_;
  const Deadline& end_;
  bool left_double_ = false;
  double flops_ = 0;
};

std::string text_of(double x) { return std::isnan(x) ? "NaN" : fmt::format("{:.6g}", x); }

/// Fails if an element is an infinity, NaN or zero and the exact one is different, or unknown.
Status compare(const Tensor& stored, const Tensor& exact, bool left_double) {
  const Tensor wide = in_double(stored);
  const auto is = wide.data<double>();
  const auto should = exact.data<double>();
  if (is.size() != should.size()) return fail("it has other extents in double precision");
  for (size_t i = 0; i < is.size(); ++i) {
    if (!is_extreme(is[i]) || (is_same_extreme(is[i], should[i]) && !left_double)) continue;
    const std::string what = left_double ? "out of the range of double precision" : text_of(should[i]);
    return fail("element {} is {} and would be stored as {}", i, what, text_of(is[i]));
  }
  return {};
}

}  // namespace

Status add_refused(RefusedWeights& refused, const RefusedWeights& weights) {
  if (weights.empty()) return {};
  refused.insert(weights.begin(), weights.end());
  return fail("{}", weights.begin()->second);
}

WeightCheck::WeightCheck(const Graph& model, int threads) : threads_(threads) {
  for (ValueId value = 0; value < model.num_values(); ++value)
    if (model.is_constant_derived(value)) own_.insert(model.value_hash(value));
}

void WeightCheck::trust(const Graph& graph) {
  for (ValueId value = 0; value < graph.num_values(); ++value)
    if (graph.is_constant_derived(value)) sound_.insert(graph.value_hash(value));
}

RefusedWeights WeightCheck::refused(const Graph& graph, const Deadline& end) {
  const std::vector<ValueId> values = unchecked(graph);
  const auto bytes_of_value = [&](ValueId value) { return Tensor::byte_size(graph.type(value)).value_or(0); };
  RefusedWeights out;
  // Some at a time, so that no more are held than may be kept.
  for (size_t begin = 0, next = 0; begin < values.size(); begin = next) {
    size_t bytes = 0;
    while (next < values.size() && (next == begin || bytes + bytes_of_value(values[next]) <= kMaxKept))
      bytes += bytes_of_value(values[next++]);
    std::vector<Result<Tensor>> checked(next - begin);
    parallel_for(checked.size(), bytes < kMinParallel ? 1 : threads_, 1,
                 [&](size_t i, size_t) { checked[i] = check(graph, values[begin + i], end); });
    for (size_t i = 0; i < checked.size(); ++i) {
      const ValueId value = values[begin + i];
      const uint64_t hash = graph.value_hash(value);
      if (checked[i]) {
        sound_.insert(hash);
        if (!checked[i]->empty()) keep(hash, *checked[i]);
      } else {
        out[hash] = fmt::format("a folded weight {} ({}): {}", graph.type(value).str(),
                                graph.producer_node(value).op->name, checked[i].error().message);
      }
    }
  }
  return out;
}

/// Returns the weights that a rewrite created and that run-time operators or outputs read. If one of them only moves
/// elements, returns its operands instead.
std::vector<ValueId> WeightCheck::unchecked(const Graph& graph) const {
  std::vector<bool> read(graph.num_values(), false);
  for (const ValueId output : graph.outputs()) read[output] = true;
  std::vector<ValueId> out;
  for (auto id = static_cast<NodeId>(graph.nodes().size()); id-- > 0;) {
    const Node& node = graph.node(id);
    bool moves = false;
    for (uint32_t r = 0; r < node.num_results && graph.is_constant_derived(node.result()) && !node.is_constant(); ++r) {
      const ValueId value = node.result(r);
      const uint64_t hash = graph.value_hash(value);
      if (!read[value] || !is_real(graph.type(value).dtype) || own_.contains(hash) || sound_.contains(hash)) continue;
      moves = node.op->compute == Compute::Movement;
      if (!moves) out.push_back(value);
    }
    if (!graph.runs(node) && !moves) continue;
    for (const ValueId operand : graph.operands(node))
      if (operand != kNoValue) read[operand] = true;
  }
  std::ranges::reverse(out);
  return out;
}

Result<Tensor> WeightCheck::check(const Graph& graph, ValueId value, const Deadline& end) const {
  const KernelDeadline deadline(end);
  Evaluation evaluation(graph, own_, end);
  ISOMER_TRY(const Tensor stored, evaluation.stored(value));
  const double work = evaluation.flops();
  if (has_extreme(stored)) {
    ISOMER_TRY(const Tensor exact, evaluation.exact(value));
    ISOMER_CHECK(compare(stored, exact, evaluation.left_double()));
  }
  return work >= kMinKeptWork * static_cast<double>(stored.bytes().size()) ? stored : Tensor();
}

Tensor WeightCheck::computed(uint64_t value_hash) const {
  const auto found = computed_.find(value_hash);
  return found == computed_.end() ? Tensor() : found->second;
}

void WeightCheck::keep(uint64_t value_hash, const Tensor& tensor) {
  const size_t bytes = tensor.bytes().size();
  if (bytes > kMaxKept) return;
  if (computed_bytes_ + bytes > kMaxKept) {
    computed_.clear();
    computed_bytes_ = 0;
  }
  if (computed_.emplace(value_hash, tensor).second) computed_bytes_ += bytes;
}

}  // namespace isomer
