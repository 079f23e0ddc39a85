// The report of a run, for programs and for people.

#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "isomer/base/table.h"
#include "isomer/base/version.h"
#include "isomer/optimize/optimize.h"

namespace isomer {
namespace {

using nlohmann::json;

int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

json options_json(const OptimizeOptions& options) {
  return {{"search", options.search.search},
          {"objective", options.objective.text()},
          {"alpha", options.search.alpha},
          {"split", options.search.split},
          {"max_candidates", options.search.max_candidates},
          {"time_budget", options.search.time_budget_seconds},
          {"seed", options.seed},
          {"threads", options.costs.engine_options.threads},
          {"rules", options.rules_file.empty() ? "built-in" : options.rules_file},
          {"skip_rules", options.skip_rules},
          {"symbols", options.shapes.symbols},
          {"shapes", options.shapes.inputs},
          {"tolerance", options.tolerance},
          {"least_speedup", options.least_speedup},
          {"dry_run", options.dry_run}};
}

json steps_json(const OptimizeReport& report) {
  json steps = json::array();
  for (const SearchStep& step : report.search.steps) {
    steps.push_back({{"rule", step.rule},
                     {"verdict", report.verdicts.at(step.rule)},
                     {"nodes", step.nodes},
                     {"delta_us", step.delta_us},
                     {"ops_before", step.ops_before},
                     {"ops_after", step.ops_after},
                     {"speedup", step.speedup > 0 ? json(step.speedup) : json()}});
  }
  return steps;
}

json metrics_json(const std::optional<Metrics>& metrics) {
  if (!metrics) return json();
  return {{"latency_us", metrics->latency_us},
          {"flops", metrics->flops},
          {"bytes", metrics->bytes},
          {"kernels", metrics->kernels},
          {"peak_bytes", metrics->peak_bytes}};
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

/// One line: how many candidates were rejected, and why the first of them.
std::string rejected_line(const SearchReport& search) {
  constexpr size_t kShown = 2;
  if (search.rejected.empty()) return "";
  std::string line = fmt::format("rejected   {}: ", search.rejected.size());
  for (size_t i = 0; i < std::min(kShown, search.rejected.size()); ++i) {
    const auto& [rule, reason] = search.rejected[i];
    line += fmt::format("{}{}: {}", i == 0 ? "" : "; ", rule, reason.substr(0, reason.find('\n')));
  }
  return line + (search.rejected.size() > kShown ? "; ...\n" : "\n");
}

int64_t total(const std::map<std::string, int64_t>& counts) {
  int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

}  // namespace

json to_json(const OptimizeReport& report) {
  json out = {{"schema", "isomer.optimize.v1"},
              {"isomer", version()},
              {"model", report.options.input.string()},
              {"output", report.options.dry_run ? json() : json(report.options.output.string())},
              {"engine", report.options.costs.engine},
              {"engine_version", report.engine_version},
              {"device", report.device},
              {"options", options_json(report.options)},
              {"search",
               {{"algorithm", report.search.algorithm},
                {"candidates", report.search.candidates},
                {"duplicates", report.search.duplicates},
                {"matches", report.search.matches},
                {"seconds", report.search.seconds},
                {"stop_reason", report.search.stop_reason},
                {"peak_rss_bytes", peak_rss_bytes()},
                {"rejected", rejected_json(report.search)}}},
              {"cost", cost_json(report)},
              {"measured", json()},
              {"steps", steps_json(report)},
              {"equivalence", json()},
              {"ops", {{"before", report.ops_before}, {"after", report.ops_after}}},
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
                          {"inputs", report.equivalence->inputs}};
  }
  return out;
}

std::string summary(const OptimizeReport& report) {
  std::string out = fmt::format("{}: {}\n", report.options.input.string(), report.outcome);
  if (report.measured) {
    const Measured& m = *report.measured;
    out += fmt::format("latency    {:.1f} us -> {:.1f} us, ratio {:.3f}, 95% [{:.3f}, {:.3f}] ({} {}, {} thread{})\n",
                       m.before_us, m.after_us, m.speedup.value, m.speedup.low, m.speedup.high,
                       report.options.costs.engine, report.engine_version, report.options.costs.engine_options.threads,
                       report.options.costs.engine_options.threads == 1 ? "" : "s");
  }
  if (report.equivalence)
    out += fmt::format("outputs    max relative difference {:.1e} over {} random inputs\n", report.equivalence->max_rel,
                       report.equivalence->inputs);
  out += fmt::format("operators  {} -> {}\n", total(report.ops_before), total(report.ops_after));
  if (report.cost_before && report.cost_after) {
    const Metrics& before = *report.cost_before;
    const Metrics& after = *report.cost_after;
    out += fmt::format("kernels    {} -> {}, predicted {:.1f} us -> {:.1f} us ({} kernels measured now)\n",
                       before.kernels, after.kernels, before.latency_us, after.latency_us, report.kernels_measured);
    out += fmt::format("memory     {:.2f} MiB -> {:.2f} MiB of activations at the same time\n",
                       before.peak_bytes / (1 << 20), after.peak_bytes / (1 << 20));
  }
  out += fmt::format("search     {}: {} candidates, {} matches in {:.1f} s ({})\n", report.search.algorithm,
                     report.search.candidates, report.search.matches, report.search.seconds, report.search.stop_reason);
  out += rejected_line(report.search) + "\n";
  if (report.search.steps.empty()) return out;
  Table table({"<rule", "<verdict", ">places", ">operators", ">speedup"});
  for (const SearchStep& step : report.search.steps) {
    table.row({step.rule, report.verdicts.at(step.rule), std::to_string(step.nodes.size()),
               fmt::format("{} -> {}", step.ops_before, step.ops_after),
               step.speedup > 0 ? fmt::format("{:.3f}", step.speedup) : "-"});
  }
  out += table.str() + "\n";
  Table ops({"<operator", ">before", ">after"});
  std::set<std::string> names;
  for (const auto& counts : {report.ops_before, report.ops_after})
    for (const auto& [name, count] : counts) names.insert(name);
  const auto at = [](const std::map<std::string, int64_t>& counts, const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() ? int64_t{0} : found->second;
  };
  for (const std::string& name : names) {
    const int64_t before = at(report.ops_before, name);
    const int64_t after = at(report.ops_after, name);
    if (before != after) ops.row({name, std::to_string(before), std::to_string(after)});
  }
  return out + ops.str();
}

}  // namespace isomer
