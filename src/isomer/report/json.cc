// The report for programs.

#include "isomer/base/version.h"
#include "isomer/cost/objective.h"
#include "isomer/report/report.h"

namespace isomer {

using nlohmann::json;

namespace {

json steps_json(const OptimizeReport& report) {
  const bool in_us = report.minimizes_latency;
  json steps = json::array();
  for (const SearchStep& step : report.search.steps) {
    const json delta = step.joined || step.penalized ? json() : json(step.delta);
    steps.push_back({{"rule", step.rule},
                     {"verdict", report.verdicts.at(step.rule)},
                     // The number of applications of the rule that are proved as they stand.
                     {"proved_at_use",
                      report.proofs.at_use.contains(step.rule) ? json(report.proofs.at_use.at(step.rule)) : json()},
                     {"nodes", step.nodes},
                     // Null for a step that was measured together with earlier ones, which then have the delta of all.
                     {"delta_us", in_us ? delta : json()},
                     {"delta", delta},
                     {"ops_before", step.ops_before},
                     {"ops_after", step.ops_after},
                     {"speedup", step.speedup > 0 && !step.penalized ? json(step.speedup) : json()}});
  }
  return steps;
}

json proofs_json(const ProvedSteps& proofs) {
  json not_proved = json::array();
  for (const auto& [rule, reason] : proofs.not_proved) not_proved.push_back({{"rule", rule}, {"reason", reason}});
  return {{"searches", proofs.searches},
          {"seconds", proofs.seconds},
          {"in_general", proofs.in_general},
          {"not_proved", std::move(not_proved)}};
}

json cost_json(const OptimizeReport& report) {
  const auto latency = [](const std::optional<Metrics>& metrics) {
    return metrics ? json(metrics->latency_us) : json();
  };
  return {{"before_us", latency(report.cost_before)},
          {"after_us", latency(report.cost_after)},
          {"before", metrics_json(report.cost_before)},
          {"after", metrics_json(report.cost_after)},
          {"kernels_measured", report.kernels_measured}};
}

json rejected_json(const SearchReport& search) {
  json rejected = json::array();
  for (const Rejection& one : search.rejected) rejected.push_back({{"rule", one.rule}, {"reason", one.reason}});
  return rejected;
}

/// A cost beyond a limit is not a quantity.
json cost_json(double cost) { return cost < kBeyondLimits ? json(cost) : json(); }

json progress_json(const SearchReport& search) {
  json progress = json::array();
  for (const SearchProgress& point : search.progress) {
    progress.push_back({{"seconds", point.seconds}, {"cost", cost_json(point.cost)}});
  }
  return progress;
}

json measured_json(const SearchReport& search) {
  json graphs = json::array();
  for (const MeasuredGraph& graph : search.measured)
    graphs.push_back({{"hash", fmt::format("{:016x}", graph.hash)},
                      {"latency_us", graph.latency_us},
                      {"critical_path_us", graph.critical_path_us},
                      {"makespan_us", graph.makespan_us},
                      {"cost", cost_json(graph.cost)},
                      {"speedup", graph.speedup.value},
                      {"ci95", {graph.speedup.low, graph.speedup.high}}});
  return graphs;
}

json runs_json(const std::vector<KernelInRun>& run) {
  json out = json::array();
  for (const KernelInRun& kernel : run)
    out.push_back({{"kernel", kernel.kernel},
                   {"result", kernel.result},
                   {"stream", kernel.stream ? json(*kernel.stream) : json()},
                   {"start_us", kernel.start_us},
                   {"us", kernel.us}});
  return out;
}

json teams_json(const std::optional<TeamsReport>& teams) {
  if (!teams) return json();
  json tried = json::array();
  for (const TeamsReport::Tried& one : teams->tried)
    tried.push_back({{"teams", one.teams},
                     {"predicted_us", one.predicted_us ? json(*one.predicted_us) : json()},
                     {"speedup", one.speedup.value},
                     {"ci95", {one.speedup.low, one.speedup.high}}});
  return {{"chosen", teams->chosen.empty() ? json() : json(teams->chosen)},
          {"predicted_us", teams->predicted_us ? json(*teams->predicted_us) : json()},
          {"tried", std::move(tried)},
          {"problem", teams->problem.empty() ? json() : json(teams->problem)},
          {"predicted", runs_json(teams->predicted)},
          {"measured", runs_json(teams->measured)}};
}

}  // namespace

json merged_json(const std::vector<MergedInput>& merged) {
  json out = json::array();
  for (const MergedInput& one : merged) out.push_back({{"input", one.input}, {"axis", one.axis}, {"parts", one.parts}});
  return out;
}

json metrics_json(const std::optional<Metrics>& metrics) {
  if (!metrics) return json();
  return {{"latency_us", metrics->latency_us},
          {"flops", metrics->flops},
          {"bytes", metrics->bytes},
          {"kernels", metrics->kernels},
          {"critical_path_us", metrics->critical_path_us},
          {"peak_bytes", metrics->peak_bytes}};
}

json memory_json(const std::optional<ActivationMemory>& memory) {
  if (!memory) return json();
  return {{"peak_bytes", memory->total()}, {"arena_bytes", memory->arena},    {"scratch_bytes", memory->scratch},
          {"input_bytes", memory->inputs}, {"output_bytes", memory->outputs}, {"reference_bytes", memory->results}};
}

json to_json(const OptimizeReport& report) {
  json out = {{"schema", "isomer.optimize.v1"},
              {"isomer", version()},
              {"model", report.input.string()},
              {"output", report.output ? json(report.output->string()) : json()},
              {"engine", report.engine},
              {"engine_version", report.engine_version},
              {"provider", report.provider.empty() ? json() : json(report.provider)},
              {"device", report.device},
              {"options", report.options},
              {"search",
               {{"algorithm", report.search.algorithm},
                {"candidates", report.search.candidates},
                {"duplicates", report.search.duplicates},
                {"matches", report.search.matches},
                {"seconds", report.search.seconds},
                {"stop_reason", report.search.stop_reason},
                {"peak_rss_bytes", report.peak_rss_bytes},
                {"progress", progress_json(report.search)},
                {"measured", measured_json(report.search)},
                {"rejected", rejected_json(report.search)},
                {"notes", report.search.notes}}},
              {"proofs", proofs_json(report.proofs)},
              {"cost", cost_json(report)},
              {"memory", {{"before", memory_json(report.memory_before)}, {"after", memory_json(report.memory_after)}}},
              {"measured", json()},
              // Steps to a graph that was found but not returned are listed under "dropped".
              {"steps", report.improved ? steps_json(report) : json::array()},
              {"dropped", report.improved ? json::array() : steps_json(report)},
              {"equivalence", json()},
              {"ops", {{"before", report.ops_before}, {"after", report.ops_after}}},
              {"decisions", report.decisions},
              {"decisions_dropped", report.decisions_dropped},
              {"teams", teams_json(report.teams)},
              {"merged", merged_json(report.merged)},
              {"within_limits", report.within_limits ? json(*report.within_limits) : json()},
              {"interrupted", report.interrupted},
              {"improved", report.improved},
              {"outcome", report.outcome}};
  if (report.measured) {
    const Measured& measured = *report.measured;
    out["measured"] = {{"before_us", measured.before_us},
                       {"after_us", measured.after_us},
                       {"speedup", measured.speedup.value},
                       {"ci95", {measured.speedup.low, measured.speedup.high}}};
  }
  if (report.equivalence) {
    out["equivalence"] = {{"max_abs", report.equivalence->max_abs},
                          {"max_rel", report.equivalence->max_rel},
                          {"movement", report.equivalence->movement},
                          {"inputs", report.equivalence->inputs}};
    if (report.equivalence->precision) out["equivalence"]["precision"] = to_json(*report.equivalence->precision);
  }
  return out;
}

}  // namespace isomer
