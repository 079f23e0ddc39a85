#include "isomer/search/preparation.h"

#include <algorithm>

#include "isomer/base/hash.h"
#include "isomer/eval/fold.h"
#include "isomer/onnx/export.h"
#include "isomer/search/part.h"

namespace isomer {
namespace {

/// Folding may take this share of the time budget, plus this many seconds.
constexpr double kFoldShare = 1.1;
constexpr double kFoldSeconds = 0.5;

/// Returns the bytes of all constants of a graph, without the elements of texts.
int64_t constant_bytes(const Graph& graph) {
  size_t bytes = 0;
  for (ValueId value = 0; value < graph.num_values(); ++value)
    if (const Tensor* data = graph.constant(value)) bytes += data->bytes().size();
  return static_cast<int64_t>(bytes);
}

}  // namespace

Preparation::Preparation(const Model& model, int threads)
    : model_(model),
      max_growth_(std::max(FoldOptions().max_growth, constant_bytes(model.graph))),
      check_(model.graph, threads) {}

void Preparation::fold_until(const Deadline& deadline) { end_ = deadline.extended(kFoldShare, kFoldSeconds); }

/// Returns when a fold that begins now must end.
Deadline Preparation::end() const { return end_.stopped() ? Deadline::after(kFoldSeconds) : end_; }

void Preparation::report(SearchReport& report) const {
  for (const auto& [hashes, move] : folds_) report.folds.push_back(move);
  for (const auto& [hash, reason] : refused_)
    if (std::ranges::none_of(report.rejected, [&, &why = reason](const Rejection& one) { return one.reason == why; }))
      report.rejected.push_back({"weights", reason});
}

Result<Candidate> Preparation::prepare(const Candidate& candidate) {
  const Graph& graph = candidate.graph;
  if (const auto known = prepared_.find(candidate.hash()); known != prepared_.end()) return known->second;
  ISOMER_CHECK(refuse(refused_in(graph)));
  const auto computed = [this](uint64_t value_hash) { return folded(value_hash); };
  ISOMER_TRY(Folding folding, fold(graph, {.max_growth = max_growth_, .end = end(), .computed = computed}));
  ISOMER_CHECK(exportable(model_, folding.graph));
  check_.trust(folding.graph);
  if (!folding.constants.empty()) {
    Move move;
    move.before = graph.hash();
    move.after = folding.graph.hash();
    for (const auto& [value, tensor] : folding.constants) {
      move.constants.emplace_back(graph.value_hash(value), tensor.hash());
      folded_.insert_or_assign(graph.value_hash(value), WeakTensor(tensor));
    }
    folds_.emplace(std::pair(move.before, move.after), std::move(move));
  }
  Candidate folded = carried(candidate.decisions, folding.value_hashes, std::move(folding.graph));
  if (graph.hash() == model_.graph.hash()) prepared_.emplace(candidate.hash(), folded);
  return folded;
}

Tensor Preparation::folded(uint64_t value_hash) const {
  const auto found = folded_.find(value_hash);
  Tensor tensor = found == folded_.end() ? Tensor() : found->second.lock();
  return tensor.empty() ? check_.computed(value_hash) : tensor;
}

RefusedWeights Preparation::refused_in(const Graph& graph) {
  const bool interrupted = end_.stopped();
  RefusedWeights refused = check_.refused(graph, end());
  if (!refused.empty() && !interrupted && end_.stopped()) refused = check_.refused(graph, end());  // cut off just now
  return refused;
}

bool Preparation::admits(const Graph& graph) {
  for (const NodeId id : run_time_nodes(graph)) {
    const Node& node = graph.node(id);
    const uint64_t form = hash_mix(hash_mix(node.op->hash(), node.attrs.hash()), node.num_operands);
    const auto [known, fresh] = admitted_.try_emplace(form, false);
    if (fresh) known->second = exportable(model_, graph, id).has_value();
    if (!known->second) return false;
  }
  return true;
}

}  // namespace isomer
