#include "isomer/search/divided_teams.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace isomer {
namespace {

/// The result of a kernel, and whether the kernel only changes its layout. Kernels of two graphs correspond by this.
using KernelResult = std::pair<ValueId, bool>;

/// Nothing if the kernel has no result.
std::optional<KernelResult> result_of(const Graph& graph, const PlannedKernel& kernel) {
  const Node& last = graph.node(kernel.nodes.back());
  if (last.num_results == 0) return std::nullopt;
  return KernelResult(last.result(), kernel.reorder);
}

Status check_extents(const Candidate& candidate) {
  for (const auto& [value, division] : candidate.decisions.divisions) {
    const TensorType& type = candidate.graph.type(value);
    if (!type.known() || !concrete(*type.shape)) return fail("the extents of a divided operator are not known");
  }
  return {};
}

}  // namespace

Result<DividedTimes> divided_times(const Candidate& candidate, const TeamTimes& whole, CostModel& one, size_t streams) {
  ISOMER_CHECK(check_extents(candidate));
  Candidate once = candidate;
  once.decisions.computations.clear();
  DividedTimes out{.divided = divided(once, streams), .times = {.neighbors = whole.neighbors}};
  const auto& [run, values, originals] = out.divided;
  ISOMER_TRY(out.times.kernels, one.kernels(run));
  out.times.value_bytes = one.value_bytes(run.graph);
  if (whole.all_us.empty()) return out;
  std::map<KernelResult, double> in_all;
  for (size_t k = 0; k < whole.kernels.size(); ++k)
    if (const auto result = result_of(candidate.graph, whole.kernels[k])) in_all[*result] = whole.all_us[k];
  for (const PlannedKernel& kernel : out.times.kernels) {
    const auto result = result_of(run.graph, kernel);
    const ValueId original = result ? originals[result->first] : kNoValue;
    const bool is_whole = original != kNoValue && values[original].size() == 1;
    const auto known = is_whole ? in_all.find({original, result->second}) : in_all.end();
    out.times.all_us.push_back(known == in_all.end() ? kernel.us : known->second);
  }
  return out;
}

Result<std::vector<double>> part_times(const Candidate& candidate, const TeamTimes& whole, CostModel& one,
                                       size_t streams) {
  const Candidate everywhere = divided_everywhere(candidate, Division::Axis0, streams);
  if (everywhere.decisions.divisions.empty()) return std::vector<double>(whole.kernels.size(), 0);
  ISOMER_TRY(const DividedTimes parts, divided_times(everywhere, whole, one, streams));
  const auto& [run, values, originals] = parts.divided;
  std::map<KernelResult, double> longest;  // by the original's value
  for (const PlannedKernel& kernel : parts.times.kernels) {
    const auto result = result_of(run.graph, kernel);
    const ValueId original = result ? originals[result->first] : kNoValue;
    if (original == kNoValue || std::ranges::count(values[original], result->first) == 0) continue;
    double& us = longest[{original, result->second}];
    us = std::max(us, kernel.us);
  }
  std::vector<double> out;
  for (const PlannedKernel& kernel : whole.kernels) {
    const auto result = result_of(candidate.graph, kernel);
    const bool has_parts = result && values[result->first].size() == streams;
    const auto known = has_parts ? longest.find(*result) : longest.end();
    // A part may keep its layout where the whole one changes it.
    const double unknown = has_parts && kernel.reorder ? kernel.us / static_cast<double>(streams) : 0;
    out.push_back(known == longest.end() ? unknown : known->second);
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
