#include "isomer/cli/inspect_costs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "isomer/base/file.h"
#include "isomer/base/progress.h"
#include "isomer/base/stopwatch.h"
#include "isomer/base/table.h"
#include "isomer/cli/roofline_chart.h"
#include "isomer/report/report.h"
#include "isomer/repro/svg.h"

namespace isomer {

using nlohmann::json;

void CostChoice::add_to(CLI::App& command, CommandFiles& files) {
  command.add_flag("--costs", wanted, "Measure the kernels that the engine runs, and show the time of each");
  files
      .writes(command, "--roofline", roofline,
              "With --costs: draw the speed of each kernel below the limits of the processor, as SVG")
      ->needs("--costs");
  engine.add_to(command, files);
}

Result<std::optional<PlanFacts>> plan_facts(const CostChoice& choice, const Candidate& candidate,
                                            const SymbolValues& symbols) {
  const Progress progress("compiling a plan ...");
  ISOMER_TRY(const auto engine, choice.engine.make());
  ISOMER_TRY(const auto inputs, concrete_inputs(candidate.graph, symbols));
  const Stopwatch watch;
  ISOMER_TRY(const auto memory, engine->activation_memory(candidate, inputs));
  const double seconds = watch.seconds();
  if (!memory) return std::nullopt;
  return PlanFacts{*memory, seconds};
}

json to_json(const PlanFacts& plan) {
  json report = memory_json(plan.memory);
  report["compile_seconds"] = plan.seconds;
  return report;
}

void print_plan(const PlanFacts& plan) {
  fmt::print("\nplan: compiled in {:.2f} s, peak activations {}\n", plan.seconds, memory_str(plan.memory));
}

Result<ModelCosts> model_costs(const CostChoice& choice, const Candidate& candidate, const SymbolValues& symbols) {
  CostOptions options{
      .engine = choice.engine.name, .engine_options = choice.engine.options, .profile_db = choice.engine.profile_db};
  make_folder_of(options.profile_db);
  Progress progress("measuring kernels ...");
  ISOMER_TRY(Costs made,
             make_costs(options, candidate.graph, symbols, [&](const std::string& line) { progress.update(line); }));
  if (made.kernels == nullptr)
    return fail("{} does not say how it groups nodes into kernels, so their costs are not known", made.engine->label());
  ModelCosts costs;
  ISOMER_TRY(costs.metrics, made.model->metrics(candidate));
  ISOMER_TRY(costs.kernels, made.kernels->account(candidate));
  costs.measured = made.kernels->measured();
  const EngineOptions& engine = choice.engine.options;
  if (engine.provider.empty() || engine.provider == "CPUExecutionProvider") {
    ISOMER_TRY(costs.peak, measured_peak(engine.threads));
  }
  return costs;
}

namespace {

/// The time that a kernel would take at the processor's peak, relative to the time that it takes.
double share_of_peak(const KernelShare& kernel, const ProcessorPeak& peak) {
  const double bytes_per_second = peak.bytes_per_second(kernel.bytes / kernel.count);
  const double least = std::max(kernel.flops / peak.flops_per_second, kernel.bytes / bytes_per_second);
  return kernel.us > 0 ? 1e6 * least / kernel.us : 0;
}

json to_json(const ProcessorPeak& peak) {
  json levels = json::array();
  for (const MemoryLevel& level : peak.levels)
    levels.push_back({{"name", level.name},
                      {"bytes", std::isfinite(level.bytes) ? json(level.bytes) : json()},
                      {"bytes_per_second", level.bytes_per_second}});
  return {{"flops_per_second", peak.flops_per_second},
          {"levels", std::move(levels)},
          {"line_seconds", peak.line_seconds > 0 ? json(peak.line_seconds) : json()}};
}

std::string giga_per_second(double amount, double us) {
  return amount > 0 && us > 0 ? fmt::format("{:.1f}", 1e-3 * amount / us) : "";
}

}  // namespace

json to_json(const ModelCosts& costs) {
  json report = {{"latency_us", costs.metrics.latency_us},
                 {"flops", costs.metrics.flops},
                 {"bytes", costs.metrics.bytes},
                 {"kernels", costs.metrics.kernels},
                 {"critical_path_us", costs.metrics.critical_path_us},
                 {"peak_bytes", costs.metrics.peak_bytes},
                 {"measured", costs.measured},
                 {"by_kernel", json::array()}};
  for (const KernelShare& share : costs.kernels)
    report["by_kernel"].push_back({{"kernel", share.kernel},
                                   {"count", share.count},
                                   {"us", share.us},
                                   {"flops", share.flops},
                                   {"bytes", share.bytes},
                                   {"of_peak", costs.peak ? json(share_of_peak(share, *costs.peak)) : json()}});
  report["peak"] = costs.peak ? to_json(*costs.peak) : json();
  return report;
}

void print_costs(const ModelCosts& costs) {
  Table table({">us", ">count", ">GFLOP/s", ">GB/s", ">of peak", "<kernel"});
  for (const KernelShare& share : costs.kernels)
    table.row({fmt::format("{:.1f}", share.us), fmt::format("{}", share.count), giga_per_second(share.flops, share.us),
               giga_per_second(share.bytes, share.us),
               costs.peak ? fmt::format("{:.0f}%", 100 * share_of_peak(share, *costs.peak)) : "", share.kernel});
  fmt::print(
      "\n{}\n{:.1f} us in {} kernels, the longest path {:.1f} us, {} FLOPs, {} moved, peak activations {}; {} measured "
      "now\n",
      table.str(), costs.metrics.latency_us, costs.metrics.kernels, costs.metrics.critical_path_us,
      metric(costs.metrics.flops), byte_str(costs.metrics.bytes), byte_str(costs.metrics.peak_bytes), costs.measured);
  if (!costs.peak) return;
  fmt::print("peak of the processor: {:.0f} GFLOP/s", 1e-9 * costs.peak->flops_per_second);
  for (const MemoryLevel& level : costs.peak->levels)
    fmt::print(", {:.0f} GB/s from {}", 1e-9 * level.bytes_per_second, level.name);
  if (costs.peak->line_seconds > 0) fmt::print(", {:.0f} ns from core to core", 1e9 * costs.peak->line_seconds);
  fmt::print("\n");
}

Status write_roofline(const CostChoice& choice, const std::string& model, const ModelCosts& costs) {
  if (!costs.peak) return fail("--roofline: the kernels do not run on this processor, whose peak is not theirs");
  const Picture chart = roofline_chart(std::filesystem::path(model).filename().string(), costs.kernels, *costs.peak);
  return write_file(choice.roofline, svg_of({&chart, 1}));
}

}  // namespace isomer
