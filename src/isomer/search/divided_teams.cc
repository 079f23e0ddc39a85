#include "isomer/search/divided_teams.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "isomer/plan/bound.h"

namespace isomer {
namespace {

/// The kernels that compute values, and those that change their layouts: by value, the index of the kernel.
class KernelsByValue {
 public:
  KernelsByValue(const Graph& graph, std::span<const PlannedKernel> kernels) {
    for (size_t k = 0; k < kernels.size(); ++k) {
      for (const NodeId id : kernels[k].nodes) {
        const Node& node = graph.node(id);
        for (uint32_t r = 0; r < node.num_results; ++r) (kernels[k].reorder ? reorders_ : makers_)[node.result(r)] = k;
      }
    }
  }
  /// A change of layout without a kernel of its own belongs to the kernel that computes the value.
  std::optional<size_t> find(ValueId value, bool reorder) const {
    if (const auto found = reorders_.find(value); reorder && found != reorders_.end()) return found->second;
    const auto found = makers_.find(value);
    return found == makers_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<ValueId, size_t> makers_, reorders_;
};

bool is_known(const Graph& graph, ValueId value) {
  return graph.type(value).known() && concrete(*graph.type(value).shape).has_value();
}

/// Returns a candidate for the inputs of `times`.
Result<BoundCandidate> bound(const Candidate& candidate, const TeamTimes& times) {
  std::vector<TensorType> inputs = times.inputs;
  if (inputs.empty())
    for (const ValueId input : candidate.graph.inputs()) inputs.push_back(candidate.graph.type(input));
  return with_input_types(candidate, inputs);
}

/// Returns `divided`, with values of the candidate instead of those of the bound one.
Result<DividedCandidate> divided_as_it_runs(const Candidate& candidate, const TeamTimes& times, size_t streams) {
  ISOMER_TRY(const BoundCandidate known, bound(candidate, times));
  for (const auto& [value, division] : known.candidate.decisions.divisions)
    if (!is_known(known.candidate.graph, value)) return fail("the extents of a divided operator are not known");
  DividedCandidate out = divided(known.candidate, streams);
  std::vector<ValueId> given(known.candidate.graph.num_values(), kNoValue);
  std::vector<std::vector<ValueId>> values;
  for (ValueId value = 0; value < known.images.size(); ++value) {
    given[known.images[value]] = value;
    values.push_back(out.values[known.images[value]]);
  }
  out.values = std::move(values);
  for (ValueId& original : out.originals)
    if (original != kNoValue) original = given[original];
  return out;
}

}  // namespace

Result<DividedTimes> divided_times(const Candidate& candidate, const TeamTimes& whole, CostModel& one, size_t streams) {
  Candidate once = candidate;
  once.decisions.computations.clear();
  DividedTimes out{.divided = {}, .times = {.neighbors = whole.neighbors}};
  ISOMER_TRY(out.divided, divided_as_it_runs(once, whole, streams));
  const auto& [run, values, originals] = out.divided;
  ISOMER_TRY(out.times.kernels, one.kernels(run));
  out.times.value_bytes = one.value_bytes(run.graph);
  if (whole.all_us.empty()) return out;
  const KernelsByValue by_value(candidate.graph, whole.kernels);
  for (const PlannedKernel& kernel : out.times.kernels) {
    const Node& last = run.graph.node(kernel.nodes.back());
    const ValueId original = last.num_results == 0 ? kNoValue : originals[last.result()];
    const bool is_whole = original != kNoValue && values[original].size() == 1;
    const auto known = is_whole ? by_value.find(original, kernel.reorder) : std::nullopt;
    const bool same = known && whole.kernels[*known].reorder == kernel.reorder;
    out.times.all_us.push_back(same ? whole.all_us[*known] : kernel.us);
  }
  return out;
}

Result<std::vector<double>> part_times(const Candidate& candidate, const TeamTimes& whole, CostModel& one,
                                       size_t streams) {
  constexpr double kNoTime = 1e-3;  // of kernels that are included in others in parts
  std::vector<double> out(whole.kernels.size(), 0);
  Candidate everywhere = candidate;
  everywhere.decisions.divisions.clear();
  everywhere = divided_everywhere(everywhere, Division::Axis0, streams);
  ISOMER_TRY(const BoundCandidate known, bound(everywhere, whole));
  std::erase_if(everywhere.decisions.divisions,
                [&](const auto& decided) { return !is_known(known.candidate.graph, known.images[decided.first]); });
  if (everywhere.decisions.divisions.empty()) return out;
  ISOMER_TRY(const DividedTimes parts, divided_times(everywhere, whole, one, streams));
  const auto& [run, values, originals] = parts.divided;
  // The parts of a kernel may consist of several kernels, or be included in those of another one.
  const KernelsByValue by_value(candidate.graph, whole.kernels);
  std::map<size_t, std::vector<double>> by_part;  // by kernel
  for (const PlannedKernel& kernel : parts.times.kernels) {
    const Node& last = run.graph.node(kernel.nodes.back());
    const ValueId original = last.num_results == 0 ? kNoValue : originals[last.result()];
    if (original == kNoValue) continue;
    const auto part = std::ranges::find(values[original], last.result());
    const auto of = by_value.find(original, kernel.reorder);
    if (part == values[original].end() || !of) continue;  // a cut or a join; or a view
    std::vector<double>& us = by_part[*of];
    us.resize(streams, 0);
    us[static_cast<size_t>(part - values[original].begin())] += kernel.us;
  }
  for (size_t k = 0; k < out.size(); ++k) {
    const Node& last = candidate.graph.node(whole.kernels[k].nodes.back());
    if (last.num_results == 0 || values[last.result()].size() != streams) continue;
    const auto us = by_part.find(k);
    out[k] = us == by_part.end() ? kNoTime : std::max(*std::ranges::max_element(us->second), kNoTime);
  }
  return out;
}

Result<Prediction> predict(const Candidate& candidate, const TeamTimes& times, CostModel& one, size_t streams) {
  if (times.all_us.empty()) return fail("times in all threads are not known: {}", times.problem);
  if (candidate.decisions.divisions.empty()) {
    Prediction out{predicted_run(candidate, times, streams), times.kernels, candidate.graph};
    out.originals.resize(candidate.graph.num_values());
    std::iota(out.originals.begin(), out.originals.end(), ValueId{0});
    return out;
  }
  ISOMER_TRY(DividedTimes parts, divided_times(candidate, times, one, streams));
  Candidate& run = parts.divided.candidate;
  PredictedRun predicted = predicted_run(run, parts.times, streams);
  return Prediction{std::move(predicted), std::move(parts.times.kernels), std::move(run.graph),
                    std::move(parts.divided.originals)};
}

}  // namespace isomer
