// Losses of scores and labels, and their gradients.

#include <algorithm>

#include "isomer/engine/onednn/cross_entropy.h"
#include "isomer/engine/onednn/loss_gradient.h"
#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/own_kernel.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

enum class LossReduction : uint8_t { None, Sum, Mean };

struct Loss {
  Scores scores;
  bool logarithms = false;                        ///< the scores are logarithms of probabilities already
  std::optional<int64_t> ignored = std::nullopt;  ///< the label whose loss is 0
  LossReduction reduction = LossReduction::Mean;
};

/// The data of a run.
struct LossData {
  const float* scores;
  const int64_t* labels;
  const float* weights;  ///< of the classes; nullptr: 1
  float* parts;          ///< room for two numbers per label, unless the scores are logarithms
  float* loss;
};

Status run_loss(const Loss& what, const LossData& data) {
  const Scores& scores = what.scores;
  const int64_t count = scores.batch * scores.pixels;
  float* const largest = data.parts;
  float* const logs = data.parts == nullptr ? nullptr : data.parts + count;
  if (!what.logarithms) log_sums(scores, data.scores, largest, logs);
  double total = 0, weights = 0;
  for (int64_t n = 0; n < count; ++n) {
    const int64_t label = data.labels[n];
    const bool is_ignored = label == what.ignored;
    if (!is_ignored && (label < 0 || label >= scores.classes))
      return fail("label {} of {} classes", label, scores.classes);
    float weight = 0, loss = 0;
    if (!is_ignored) {
      const float score = data.scores[(n / scores.pixels * scores.classes + label) * scores.pixels + n % scores.pixels];
      weight = data.weights == nullptr ? 1 : data.weights[label];
      loss = weight * (what.logarithms ? -score : logs[n] + (largest[n] - score));
    }
    if (what.reduction == LossReduction::None) data.loss[n] = loss;
    total += static_cast<double>(loss);
    weights += static_cast<double>(weight);
  }
  if (what.reduction == LossReduction::Sum) *data.loss = static_cast<float>(total);
  if (what.reduction == LossReduction::Mean) *data.loss = static_cast<float>(total / weights);
  return {};
}

}  // namespace

Result<bool> lower_loss(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto operands = graph.operands(node);
  const TensorType& labels = graph.type(operands[1]);
  const bool weighted = operands.size() > 2 && operands[2] != kNoValue;
  // One result: only the loss.
  if (node.num_results != 1 || !is_dense(graph, operands[0]) || labels.dtype != DType::Int64 ||
      (weighted && !is_dense(graph, operands[2])))
    return false;
  const Dims dims = dims_of(graph.type(operands[0]));
  Loss what{.scores = {dims[0], dims[1], element_count(std::span(dims).subspan(2))},
            .logarithms = node.op->name == "NegativeLogLikelihoodLoss"};
  if (const AttrValue* ignored = node.attrs.find("ignore_index")) what.ignored = std::get<int64_t>(*ignored);
  const std::string& reduction = node.attrs.text("reduction");
  if (reduction != "mean") what.reduction = reduction == "sum" ? LossReduction::Sum : LossReduction::None;
  const Location from = builder.plain(operands[0]);
  const Location which = builder.at(operands[1]);
  std::vector<Location> read = {from, which};
  if (weighted) read.push_back(builder.plain(operands[2]));
  std::optional<Location> parts;
  if (!what.logarithms)
    parts = builder.room(2 * static_cast<size_t>(what.scores.batch * what.scores.pixels) * sizeof(float));
  const Location to = builder.result(node.result(), plain_desc(dims_of(graph.type(node.result()))));
  emit_own(builder, {.name = node.op->name,
                     .from = read,
                     .scratch = parts,
                     .to = to,
                     .result = node.result(),
                     .run = [=](Workspace& workspace) -> Status {
                       return run_loss(what, {.scores = elements_at(workspace, from),
                                              .labels = reinterpret_cast<const int64_t*>(workspace.address(which)),
                                              .weights = weighted ? elements_at(workspace, read[2]) : nullptr,
                                              .parts = parts ? mutable_elements_at(workspace, *parts) : nullptr,
                                              .loss = mutable_elements_at(workspace, to)});
                     }});
  return true;
}

namespace {

constexpr int64_t kGradientGrain = 8192;  // minimum number of scores per thread

/// Computes the softmax of each row of scores, less 1 for the class of its label, times a factor: `factors` has one
/// number, or one for each row with `by_row`. Labels count as in OneHot: one out of range marks no class.
template <class Label>
void run_loss_gradient(const Scores& scores, const float* from, const Label* labels, const float* factors, bool by_row,
                       float* to) {
  const int64_t classes = scores.classes;
  parallel_for(scores.batch, std::max<int64_t>(kGradientGrain / classes, 1), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float factor = factors == nullptr ? 1 : factors[by_row ? row : 0];
      scaled_softmax(from + row * classes, classes, factor, to + row * classes);
      const auto label = static_cast<int64_t>(labels[row]);
      if (label >= -classes && label < classes) to[row * classes + (label < 0 ? label + classes : label)] -= factor;
    }
  });
}

}  // namespace

Result<bool> lower_loss_gradient(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const auto read = loss_gradient(graph, group.root);
  const ValueId result = graph.node(group.root).result();
  if (!read || !is_dense(graph, read->scores) || !is_dense(graph, result) ||
      (read->factor != kNoValue && !is_dense(graph, read->factor)))
    return false;
  const Dims dims = dims_of(graph.type(result));
  const Scores scores{.batch = element_count(std::span(dims).first(dims.size() - 1)), .classes = dims.back()};
  const Location from = builder.plain(read->scores);
  const Location which = builder.at(read->labels);
  std::vector<Location> reads = {from, which};
  const bool scaled = read->factor != kNoValue;
  if (scaled) reads.push_back(builder.plain(read->factor));
  const bool is_apart = !scaled || reads[2].buffer != from.buffer;
  const bool by_row = scaled && element_count(dims_of(graph.type(read->factor))) > 1;
  const bool wide = graph.type(read->labels).dtype == DType::Int64;
  const Location to = builder.result(result, plain_desc(dims), is_apart ? std::optional(from) : std::nullopt);
  emit_own(builder,
           {.name = "gradient of cross entropy",
            .from = reads,
            .to = to,
            .result = result,
            .run = [=](Workspace& workspace) -> Status {
              const float* const data = elements_at(workspace, from);
              const std::byte* const labels = workspace.address(which);
              const float* const factors = scaled ? elements_at(workspace, reads[2]) : nullptr;
              float* const out = mutable_elements_at(workspace, to);
              if (wide)
                run_loss_gradient(scores, data, reinterpret_cast<const int64_t*>(labels), factors, by_row, out);
              else
                run_loss_gradient(scores, data, reinterpret_cast<const int32_t*>(labels), factors, by_row, out);
              return {};
            }});
  return true;
}

}  // namespace isomer::onednn
