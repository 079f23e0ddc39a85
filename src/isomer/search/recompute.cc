#include "isomer/search/recompute.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "isomer/cost/objective.h"
#include "isomer/plan/recomputation.h"
#include "isomer/search/checkpoints.h"

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

std::vector<NodeId> Recompute::by_worth(const Candidate& candidate) const {
  const Graph& graph = candidate.graph;
  std::vector<NodeId> out;
  for (const auto& [value, computation] : candidate.decisions.computations)
    if (out.empty() || out.back() != graph.producer(value)) out.push_back(graph.producer(value));
  const auto worth = [&](NodeId id) {
    const Node& node = graph.node(id);
    double bytes = 1;
    for (uint32_t r = 0; r < node.num_results; ++r) bytes += bytes_[node.result(r)];
    return us_[id] / bytes;
  };
  std::ranges::stable_sort(out, std::greater{}, worth);
  return out;
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
    if (candidate_.decisions.computations.contains(value)) return std::nullopt;  // once, by the user's decision
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

namespace {

/// The candidate with the least objective so far; of equal ones, with the least latency.
class BestFound {
 public:
  BestFound(const RecomputeObjective& objective, Candidate first, const Metrics& metrics)
      : objective_(objective),
        candidate_(std::move(first)),
        metrics_(metrics),
        value_(objective(candidate_, metrics), metrics.latency_us) {}

  /// Returns whether the candidate is better.
  bool offer(const Candidate& candidate, const Metrics& metrics) {
    const std::pair value(objective_(candidate, metrics), metrics.latency_us);
    if (!(value < value_)) return false;
    value_ = value;
    metrics_ = metrics;
    candidate_ = candidate;
    return true;
  }
  const Candidate& candidate() const { return candidate_; }
  const Metrics& metrics() const { return metrics_; }
  bool is_within_limits() const { return value_.first < kBeyondLimits; }

 private:
  const RecomputeObjective& objective_;
  Candidate candidate_;
  Metrics metrics_;
  std::pair<double, double> value_;
};

void free_more(Recompute search, BestFound& best, const Deadline& end) {
  constexpr int kPatience = 64;
  constexpr int kPatienceWithinLimits = 8;  // more steps hardly help, and each is planned
  for (int waited = 0; !end.passed(); ++waited) {
    if (waited >= (best.is_within_limits() ? kPatienceWithinLimits : kPatience)) break;
    // A kernel that cannot be measured, because no time is left or for another reason, ends the steps.
    if (const auto more = search.step(); !more || !*more) break;
    if (best.offer(search.candidate(), search.metrics())) waited = -1;
  }
}

/// Returns the best of these candidates for the same graph; nothing if none has a cost.
std::optional<BestFound> best_of(std::span<const Candidate> candidates, CostModel& costs,
                                 const RecomputeObjective& objective, const Deadline& end) {
  std::optional<BestFound> out;
  for (const Candidate& candidate : candidates) {
    if (end.passed()) break;
    const auto metrics = costs.metrics(candidate);
    if (!metrics) continue;
    if (out)
      out->offer(candidate, *metrics);
    else
      out.emplace(objective, candidate, *metrics);
  }
  return out;
}

/// Takes back second computations.
class TakeBack {
 public:
  TakeBack(const Candidate& first, CostModel& costs, BestFound& best, const Deadline& end)
      : first_(first), costs_(costs), best_(best), end_(end) {}

  /// Computes the results of all these nodes only once if that is better, or of those in one half, or in the other, and
  /// so on. `is_tried`: all together are not better. Returns whether all are computed once.
  bool run(std::span<const NodeId> nodes, bool is_tried = false) {
    constexpr double kWorth = 1e-3;  // of the latency; a smaller gain is not worth a plan
    if (nodes.empty() || end_.passed()) return false;
    if (!is_tried) {
      const Candidate next = without(nodes);
      const auto metrics = costs_.metrics(next);
      if (metrics && metrics->latency_us > (1 - kWorth) * best_.metrics().latency_us) return false;
      if (metrics && best_.offer(next, *metrics)) return true;
    }
    if (nodes.size() == 1) return false;
    const size_t half = nodes.size() / 2;
    const bool is_first_half = run(nodes.first(half));
    run(nodes.subspan(half), is_first_half);
    return false;
  }

 private:
  Candidate without(std::span<const NodeId> nodes) const {
    Candidate out = best_.candidate();
    for (const NodeId id : nodes) {
      const Node& node = out.graph.node(id);
      for (uint32_t r = 0; r < node.num_results; ++r)
        if (!first_.decisions.computations.contains(node.result(r))) out.decisions.computations.erase(node.result(r));
    }
    return out;
  }

  const Candidate& first_;
  CostModel& costs_;
  BestFound& best_;
  const Deadline& end_;
};

}  // namespace

Result<Candidate> recompute(const Candidate& first, CostModel& costs, const Deadline& end,
                            const RecomputeObjective& objective) {
  ISOMER_TRY(const Recompute search, Recompute::make(first, costs));
  BestFound best(objective, first, search.metrics());
  const auto bytes = [&](const Candidate& candidate) {
    const auto peak = costs.peak_memory(candidate);
    return peak ? peak->bytes : std::numeric_limits<double>::infinity();
  };
  // Before the steps, which may take all of the time.
  const auto even = best_of(with_checkpoints(first, bytes), costs, objective, end);
  free_more(search, best, end);
  if (even) {
    best.offer(even->candidate(), even->metrics());
    if (auto from_there = Recompute::make(even->candidate(), costs)) free_more(std::move(*from_there), best, end);
  }
  if (best.is_within_limits()) TakeBack(first, costs, best, end).run(search.by_worth(best.candidate()));
  return best.candidate();
}

}  // namespace isomer
