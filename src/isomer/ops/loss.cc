// Classification losses: over scores of shape [batch, classes, ...] and integer labels of shape [batch, ...].

#include <algorithm>
#include <optional>

#include "isomer/ops/accumulate.h"
#include "isomer/ops/axis.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// Scores, labels and, optionally, a weight for each class.
Result<std::vector<TensorType>> infer_loss(const OpView& view) {
  if (view.rank(0) < 2) return fail("{} needs a rank of at least 2, got {}", view.op.name, view.type(0).str());
  ISOMER_CHECK(want_rank(view, 1, view.rank(0) - 1));
  if (!is_integer(view.dtype(1))) return fail("{} needs integer labels", view.op.name);
  if (view.has(2)) {
    ISOMER_CHECK(want_rank(view, 2, 1));
    ISOMER_CHECK(same_dtype(view, 0, 2));
    const Dim& weights = view.shape(2)[0];
    const Dim& classes = view.shape(0)[1];
    if (unequal(weights, classes))
      return fail("{} has {} weights for {} classes", view.op.name, weights.str(), classes.str());
  }
  for (size_t i = 0; i < view.rank(1); ++i) {
    const Dim& label = view.shape(1)[i];
    const Dim& score = view.shape(0)[i == 0 ? 0 : i + 1];
    if (unequal(label, score))
      return fail("{} of {} with labels {}", view.op.name, view.type(0).str(), view.type(1).str());
  }
  const std::string& reduction = view.attrs.text("reduction");
  if (reduction != "none" && reduction != "mean" && reduction != "sum")
    return fail("{} has no reduction '{}'", view.op.name, reduction);
  return std::vector<TensorType>{{view.dtype(0), reduction == "none" ? view.shape(1) : Shape()}};
}

Result<std::vector<TensorType>> infer_cross_entropy(const OpView& view) {
  ISOMER_TRY(auto types, infer_loss(view));
  if (view.num_results > 1) types.push_back(view.type(0));
  return types;
}

double flops_loss(const WorkView& view) { return 2 * count(view.operands[1]); }
double flops_cross_entropy(const WorkView& view) { return 4 * count(view.operands[0]) + flops_loss(view); }

/// Computes the loss of log-probabilities `logs` as result 0: -weight * log for each label, then the sum or the mean by
/// weight. Ignored labels have weight 0.
template <class T>
Status negative_log_likelihood(const KernelContext& context, std::span<const Accumulator<T>> logs, Tensor& result) {
  using Sum = Accumulator<T>;
  const AxisSplit split = axis_split(context.operands[0].dims(), 1);
  const auto labels = context.operands[1].data<int64_t>();
  const AttrValue* ignored = context.attrs.find("ignore_index");
  const bool each = context.attrs.text("reduction") == "none";
  const auto y = result.mutable_data<T>();
  Sum total(0);
  Sum weights(0);
  for (size_t n = 0; n < labels.size(); ++n) {
    if (ignored != nullptr && labels[n] == std::get<int64_t>(*ignored)) continue;
    if (labels[n] < 0 || labels[n] >= split.extent) return fail("label {} of {} classes", labels[n], split.extent);
    const auto at = static_cast<int64_t>(n);
    const int64_t score = split.start(at / split.inner, at % split.inner) + labels[n] * split.inner;
    const Sum weight =
        context.has(2) ? static_cast<Sum>(context.operands[2].data<T>()[static_cast<size_t>(labels[n])]) : Sum(1);
    const Sum loss = Sum(0) - weight * logs[static_cast<size_t>(score)];
    if (each) y[n] = static_cast<T>(loss);
    total += loss;
    weights += weight;
  }
  if (!each) y[0] = static_cast<T>(context.attrs.text("reduction") == "mean" ? total / weights : total);
  return {};
}

Status loss_kernel(KernelContext& context) {
  return for_real(context.operands[0].dtype(), [&]<class T>() -> Status {
    const auto x = context.operands[0].data<T>();
    const std::vector<Accumulator<T>> logs(x.begin(), x.end());
    return negative_log_likelihood<T>(context, logs, new_result(context));
  });
}

/// log(softmax(x)) along the classes: x - log(sum of exp(x)), shifted by the maximum where numbers could overflow.
template <class T>
std::vector<Accumulator<T>> log_softmax(const Tensor& x) {
  using Sum = Accumulator<T>;
  const AxisSplit split = axis_split(x.dims(), 1);
  const auto data = x.data<T>();
  std::vector<Sum> logs(data.begin(), data.end());
  for (int64_t line = 0; line < split.outer * split.inner; ++line) {
    Sum* from = logs.data() + split.start(line / split.inner, line % split.inner);
    const int64_t size = split.extent * split.inner;
    Sum shift(0);
    if constexpr (!std::is_same_v<T, Fp>) {
      shift = lattice_bottom<Sum>();
      for (int64_t i = 0; i < size; i += split.inner) shift = lattice_max(shift, from[i]);
    }
    Sum sum(0);
    for (int64_t i = 0; i < size; i += split.inner)
      sum += scalar_function("Exp", from[i] - shift, [](auto v) { return std::exp(v); });
    const Sum log_sum = scalar_function("Log", sum, [](auto v) { return std::log(v); });
    for (int64_t i = 0; i < size; i += split.inner) from[i] = from[i] - shift - log_sum;
  }
  return logs;
}

Status cross_entropy_kernel(KernelContext& context) {
  return for_real(context.operands[0].dtype(), [&]<class T>() -> Status {
    const auto logs = log_softmax<T>(context.operands[0]);
    ISOMER_CHECK(negative_log_likelihood<T>(context, logs, new_result(context)));
    if (context.types.size() < 2) return {};
    const auto to = new_result(context).mutable_data<T>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(logs[i]);
    return {};
  });
}

std::vector<AttrDef> loss_attrs() {
  return {{.name = "reduction", .kind = AttrKind::String, .preset = std::string("mean")},
          {.name = "ignore_index", .kind = AttrKind::Int, .optional = true}};
}

/// What the gradient of a loss is made of.
struct LossParts {
  GraphValue hot;     ///< 1 for the class of each label
  GraphValue weight;  ///< for each label, as [batch, 1, ...], or for all: the gradient for its loss times its weight
};

/// The weights of the labels as [batch, 1, ...]; nothing if all are 1. Ignored labels have weight 0.
std::optional<GraphValue> label_weights(Backward& node, const GraphValue& hot) {
  std::optional<GraphValue> weights;
  if (node.has(2)) weights = summed(hot * per_channel(node.operand(2), hot.rank()), {1}, true);
  const AttrValue* ignored = node.attrs().find("ignore_index");
  if (ignored == nullptr) return weights;
  const GraphValue index = node.constant(Tensor::ints({}, {std::get<int64_t>(*ignored)}));
  const GraphValue is_ignored = apply("Equal", {unsqueezed(converted(node.operand(1), DType::Int64), {1}), index});
  return where(is_ignored, number(hot, 0), weights.value_or(number(hot, 1)));
}

/// The sum of the weights of all labels.
GraphValue sum_of_weights(const GraphValue& labels, const std::optional<GraphValue>& weights, const GraphValue& hot) {
  const auto sum = [](const GraphValue& x) { return summed(x, axis_range(0, x.rank()), false); };
  if (weights) return sum(*weights);
  if (!std::ranges::all_of(labels.shape(), &Dim::is_const)) return sum(hot);  // each label marks one class
  return number(hot, element_count(labels, axis_range(0, labels.rank())));
}

LossParts loss_parts(Backward& node) {
  if (node.needs(2))
    node.refuse("there is no gradient for the weights of classes; name the other parameters with --wrt");
  const GraphValue scores = node.operand(0);
  const GraphValue bounds = converted(node.constant(Tensor::floats({2}, {0, 1})), scores.dtype());
  const GraphValue hot = node.call("OneHot", {{"depth", known_extent(scores, 1)}, {"axis", int64_t{1}}},
                                   {converted(node.operand(1), DType::Int64), bounds});
  const auto weights = label_weights(node, hot);
  const std::string& reduction = node.attrs().text("reduction");
  GraphValue gradient = node.gradient();
  if (reduction == "none") gradient = unsqueezed(gradient, {1});
  if (reduction == "mean") gradient = gradient / sum_of_weights(node.operand(1), weights, hot);
  return {hot, weights ? gradient * *weights : gradient};
}

void log_likelihood_gradient(Backward& node) {
  const LossParts parts = loss_parts(node);
  node.give(0, -(parts.weight * parts.hot));
}

/// Of the loss, and of the logarithms of the probabilities (result 1).
void cross_entropy_gradient(Backward& node) {
  const GraphValue scores = node.operand(0);
  const Attrs axis{{"axis", 1 - static_cast<int64_t>(scores.rank())}};
  const GraphValue probabilities = node.call("Softmax", axis, {scores});
  std::vector<GraphValue> sum;
  if (node.has_gradient(0)) {
    const LossParts parts = loss_parts(node);
    sum.push_back(parts.weight * (probabilities - parts.hot));
  }
  if (node.num_results() > 1 && node.has_gradient(1))
    sum.push_back(node.gradient(1) - probabilities * summed(node.gradient(1), {1}, true));
  node.give(0, sum.size() == 2 ? sum[0] + sum[1] : sum[0]);
}

}  // namespace

std::vector<OpDef> loss_ops() {
  return {
      {.name = "NegativeLogLikelihoodLoss",
       .attrs = loss_attrs(),
       .min_operands = 2,
       .max_operands = 3,
       .infer = infer_loss,
       .flops = flops_loss,
       .kernel = loss_kernel,
       .gradient = log_likelihood_gradient,
       .roles = {OperandRole::Data, OperandRole::Labels},
       .since = 12},
      {.name = "SoftmaxCrossEntropyLoss",
       .attrs = loss_attrs(),
       .min_operands = 2,
       .max_operands = 3,
       .max_results = 2,
       .infer = infer_cross_entropy,
       .flops = flops_cross_entropy,
       .kernel = cross_entropy_kernel,
       .gradient = cross_entropy_gradient,
       .roles = {OperandRole::Data, OperandRole::Labels},
       .since = 12},
  };
}

}  // namespace isomer
