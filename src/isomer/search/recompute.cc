#include "isomer/search/recompute.h"

#include <algorithm>
#include <set>
#include <utility>

#include "isomer/cost/objective.h"
#include "isomer/plan/recomputation.h"

namespace isomer {

Recompute::Recompute(Candidate first, CostModel& costs)
    : costs_(&costs),
      candidate_(std::move(first)),
      us_(candidate_.graph.nodes().size(), 0),
      bytes_(costs.value_bytes(candidate_.graph)),
      refused_(candidate_.graph.num_values(), false) {}

Result<Recompute> Recompute::make(Candidate first, CostModel& costs) {
  Recompute out(std::move(first), costs);
  ISOMER_TRY(out.metrics_, costs.metrics(out.candidate_));
  ISOMER_TRY(const std::vector<PlannedKernel> kernels, costs.kernels(out.candidate_));
  for (const PlannedKernel& kernel : kernels) out.us_[kernel.nodes.back()] += kernel.us;
  return out;
}

Result<bool> Recompute::step() {
  while (true) {
    ISOMER_TRY(PeakMemory now, costs_->peak_memory(candidate_));
    Moment moment{std::move(now), std::vector<bool>(candidate_.graph.num_values(), false),
                  second_computations(candidate_)};
    const PeakMemory& peak = moment.peak;
    for (const PeakMemory::Held& held : peak.held)
      for (const ValueId value : held.values) moment.held[value] = true;
    const PeakMemory::Held* freed = nullptr;
    Move best;
    double best_score = 0;
    for (const PeakMemory::Held& held : peak.held) {
      const auto found = move(held, moment);
      if (!found) continue;
      constexpr double kLaunch = 1;  // no second computation takes less, in microseconds
      const double score = held.bytes / ((found->us + kLaunch) * (1 + segment_bytes(*found, moment) / peak.bytes));
      if (score <= best_score) continue;
      best_score = score;
      freed = &held;
      best = *found;
    }
    if (freed == nullptr) {
      // What did not help before other steps may help now.
      if (!std::exchange(moved_, false)) return false;
      refused_.assign(refused_.size(), false);
      continue;
    }
    Candidate next = candidate_;
    for (const ValueId value : best.values) next.decisions.computations[value] = Computation::Twice;
    ISOMER_TRY(const Metrics metrics, costs_->metrics(next));
    ISOMER_TRY(const PeakMemory after, costs_->peak_memory(next));
    if (after.bytes < peak.bytes || (after.bytes == peak.bytes && after.place != peak.place)) {
      candidate_ = std::move(next);
      metrics_ = metrics;
      moved_ = true;
      return true;
    }
    for (const ValueId value : freed->values) refused_[value] = true;
  }
}

bool Recompute::is_used_after(ValueId value, const Moment& moment) const {
  const Graph& graph = candidate_.graph;
  return std::ranges::any_of(graph.consumers(value), [&](NodeId reader) {
    if (reader > moment.peak.place) return true;
    const Node& node = graph.node(reader);
    for (uint32_t r = 0; r < node.num_results; ++r) {
      const NodeId place = moment.second[node.result(r)];
      if (place != kNoPlace && place > moment.peak.place) return true;
    }
    return false;
  });
}

/// Returns what must be computed twice to free a piece of memory; nothing if that is not possible.
std::optional<Recompute::Move> Recompute::move(const PeakMemory::Held& freed, const Moment& moment) const {
  const Graph& graph = candidate_.graph;
  Move out;
  std::vector<ValueId> open;
  for (const ValueId value : freed.values)
    if (is_used_after(value, moment)) open.push_back(value);
  if (open.empty()) return std::nullopt;
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    if (std::ranges::find(out.values, value) != out.values.end()) continue;
    if (refused_[value] || !is_recomputable(graph, value) || moment.second[value] != kNoPlace) return std::nullopt;
    out.values.push_back(value);
    out.us += us_[graph.producer(value)];
    for (const ValueId operand : graph.operands(graph.producer_node(value))) {
      if (operand == kNoValue || graph.is_constant_derived(operand) || graph.producer_node(operand).is_input())
        continue;
      const bool is_freed = std::ranges::find(freed.values, operand) != freed.values.end();
      const bool is_there = (moment.held[operand] && !is_freed) || moment.second[operand] != kNoPlace;
      if (!is_there) open.push_back(operand);
    }
  }
  return out;
}

/// Returns the bytes of all values that are computed twice after a move and are connected with its values.
double Recompute::segment_bytes(const Move& move, const Moment& moment) const {
  const Graph& graph = candidate_.graph;
  std::vector<ValueId> open = move.values;
  std::set<ValueId> seen(open.begin(), open.end());
  const auto add = [&](ValueId value) {
    if (value != kNoValue && moment.second[value] != kNoPlace && seen.insert(value).second) open.push_back(value);
  };
  double bytes = 0;
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    bytes += bytes_[value];
    for (const ValueId operand : graph.operands(graph.producer_node(value))) add(operand);
    for (const NodeId reader : graph.consumers(value))
      for (uint32_t r = 0; r < graph.node(reader).num_results; ++r) add(graph.node(reader).result(r));
  }
  return bytes;
}

Result<Candidate> recompute(const Candidate& first, CostModel& costs, const Deadline& end,
                            const std::function<double(const Candidate&, const Metrics&)>& objective) {
  constexpr int kPatience = 64;
  constexpr int kPatienceWithinLimits = 8;  // more steps hardly help, and each is planned
  ISOMER_TRY(Recompute search, Recompute::make(first, costs));
  Candidate best = first;
  double least = objective(first, search.metrics());
  for (int waited = 0; !end.passed(); ++waited) {
    if (waited >= (least < kBeyondLimits ? kPatienceWithinLimits : kPatience)) break;
    // A kernel that cannot be measured, because no time is left or for another reason, ends the steps.
    if (const auto more = search.step(); !more || !*more) break;
    const double value = objective(search.candidate(), search.metrics());
    if (value >= least) continue;
    least = value;
    best = search.candidate();
    waited = -1;
  }
  return best;
}

}  // namespace isomer
