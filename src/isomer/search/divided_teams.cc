#include "isomer/search/divided_teams.h"

#include <algorithm>
#include <map>
#include <utility>

namespace isomer {
namespace {

/// What a kernel computes, or the value of which it changes the layout. By this, kernels of two graphs correspond.
using KernelResult = std::pair<ValueId, bool>;

/// Nothing if the kernel has no result.
std::optional<KernelResult> result_of(const Graph& graph, const PlannedKernel& kernel) {
  const Node& last = graph.node(kernel.nodes.back());
  if (last.num_results == 0) return std::nullopt;
  return KernelResult(last.result(), kernel.reorder);
}

std::vector<ValueId> origins_of(const DividedCandidate& divided) {
  std::vector<ValueId> out(divided.candidate.graph.num_values(), kNoValue);
  for (ValueId value = 0; value < divided.values.size(); ++value)
    for (const ValueId part : divided.values[value]) out[part] = value;
  return out;
}

}  // namespace

Result<DividedTimes> divided_times(const Candidate& candidate, const TeamTimes& whole, CostModel& one, size_t streams) {
  Candidate once = candidate;
  once.decisions.computations.clear();
  DividedTimes out{.divided = divided(once, streams), .times = {.neighbors = whole.neighbors}, .origins = {}};
  const Graph& graph = out.divided.candidate.graph;
  out.origins = origins_of(out.divided);
  ISOMER_TRY(out.times.kernels, one.kernels(out.divided.candidate));
  out.times.value_bytes = one.value_bytes(graph);
  if (whole.all_us.empty()) return out;
  std::map<KernelResult, double> in_all;
  for (size_t k = 0; k < whole.kernels.size(); ++k)
    if (const auto result = result_of(candidate.graph, whole.kernels[k])) in_all[*result] = whole.all_us[k];
  for (const PlannedKernel& kernel : out.times.kernels) {
    const auto result = result_of(graph, kernel);
    const ValueId origin = result ? out.origins[result->first] : kNoValue;
    const bool is_whole = origin != kNoValue && out.divided.values[origin].size() == 1;
    const auto known = is_whole ? in_all.find({origin, result->second}) : in_all.end();
    out.times.all_us.push_back(known == in_all.end() ? kernel.us : known->second);
  }
  return out;
}

Result<std::vector<double>> part_times(const Candidate& candidate, const TeamTimes& whole, CostModel& one,
                                       size_t streams) {
  const Candidate everywhere = divided_everywhere(candidate, Division::Axis0, streams);
  if (everywhere.decisions.divisions.empty()) return std::vector<double>(whole.kernels.size(), 0);
  ISOMER_TRY(const DividedTimes parts, divided_times(everywhere, whole, one, streams));
  std::map<KernelResult, double> longest;  // by the original's value
  for (const PlannedKernel& kernel : parts.times.kernels) {
    const auto result = result_of(parts.divided.candidate.graph, kernel);
    const ValueId origin = result ? parts.origins[result->first] : kNoValue;
    if (origin == kNoValue || parts.divided.values[origin].size() < streams) continue;
    double& us = longest[{origin, result->second}];
    us = std::max(us, kernel.us);
  }
  std::vector<double> out;
  for (const PlannedKernel& kernel : whole.kernels) {
    const auto result = result_of(candidate.graph, kernel);
    const auto known = result ? longest.find(*result) : longest.end();
    out.push_back(known == longest.end() ? 0 : known->second);
  }
  return out;
}

}  // namespace isomer
