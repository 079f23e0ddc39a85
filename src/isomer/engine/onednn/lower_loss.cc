// The cross entropy of scores and labels.

#include "isomer/engine/onednn/log_sum.h"
#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/own_kernel.h"

namespace isomer::onednn {
namespace {

enum class LossReduction : uint8_t { None, Sum, Mean };

struct CrossEntropy {
  Scores scores;
  std::optional<int64_t> ignored = std::nullopt;  ///< the label whose loss is 0
  LossReduction reduction = LossReduction::Mean;
};

/// What a run reads and writes. `parts` is room for two numbers per label.
struct CrossEntropyData {
  const float* scores;
  const int64_t* labels;
  const float* weights;  ///< of the classes; nullptr: 1
  float* parts;
  float* loss;
};

Status run_cross_entropy(const CrossEntropy& what, const CrossEntropyData& data) {
  const Scores& scores = what.scores;
  const int64_t count = scores.batch * scores.pixels;
  float* const largest = data.parts;
  float* const logs = data.parts + count;
  log_sums(scores, data.scores, largest, logs);
  double total = 0, weights = 0;
  for (int64_t n = 0; n < count; ++n) {
    const int64_t label = data.labels[n];
    const bool is_ignored = label == what.ignored;
    if (!is_ignored && (label < 0 || label >= scores.classes))
      return fail("label {} of {} classes", label, scores.classes);
    const float weight = is_ignored ? 0 : data.weights == nullptr ? 1 : data.weights[label];
    const int64_t at = (n / scores.pixels * scores.classes + label) * scores.pixels + n % scores.pixels;
    const float loss = is_ignored ? 0 : weight * (logs[n] + (largest[n] - data.scores[at]));
    if (what.reduction == LossReduction::None) data.loss[n] = loss;
    total += static_cast<double>(loss);
    weights += static_cast<double>(weight);
  }
  if (what.reduction == LossReduction::Sum) *data.loss = static_cast<float>(total);
  if (what.reduction == LossReduction::Mean) *data.loss = static_cast<float>(total / weights);
  return {};
}

}  // namespace

Result<bool> lower_cross_entropy(Builder& builder, const Group& group) {
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
  CrossEntropy what{.scores = {dims[0], dims[1], element_count(std::span(dims).subspan(2))}};
  if (const AttrValue* ignored = node.attrs.find("ignore_index")) what.ignored = std::get<int64_t>(*ignored);
  const std::string& reduction = node.attrs.text("reduction");
  if (reduction != "mean") what.reduction = reduction == "sum" ? LossReduction::Sum : LossReduction::None;
  const Location from = builder.plain(operands[0]);
  const Location which = builder.at(operands[1]);
  std::vector<Location> read = {from, which};
  if (weighted) read.push_back(builder.plain(operands[2]));
  const auto count = static_cast<size_t>(what.scores.batch * what.scores.pixels);
  const Location parts = builder.room(2 * count * sizeof(float));
  const Location to = builder.result(node.result(), plain_desc(dims_of(graph.type(node.result()))));
  emit_own(builder, {.name = node.op->name,
                     .from = read,
                     .scratch = parts,
                     .to = to,
                     .result = node.result(),
                     .run = [=](Workspace& workspace) -> Status {
                       return run_cross_entropy(what,
                                                {.scores = elements_at(workspace, from),
                                                 .labels = reinterpret_cast<const int64_t*>(workspace.address(which)),
                                                 .weights = weighted ? elements_at(workspace, read[2]) : nullptr,
                                                 .parts = mutable_elements_at(workspace, parts),
                                                 .loss = mutable_elements_at(workspace, to)});
                     }});
  return true;
}

}  // namespace isomer::onednn
