#include "isomer/cli/inspect_costs.h"

#include "isomer/base/progress.h"
#include "isomer/base/stopwatch.h"
#include "isomer/base/table.h"
#include "isomer/report/report.h"

namespace isomer {

using nlohmann::json;

void CostChoice::add_to(CLI::App& command, CommandFiles& files) {
  command.add_flag("--costs", wanted, "Measure the kernels that the engine runs, and show the time of each");
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
  return costs;
}

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
    report["by_kernel"].push_back({{"kernel", share.kernel}, {"count", share.count}, {"us", share.us}});
  return report;
}

void print_costs(const ModelCosts& costs) {
  Table table({">us", ">count", "<kernel"});
  for (const KernelShare& share : costs.kernels)
    table.row({fmt::format("{:.1f}", share.us), fmt::format("{}", share.count), share.kernel});
  fmt::print(
      "\n{}\n{:.1f} us in {} kernels, the longest path {:.1f} us, {} FLOPs, {} moved, peak activations {}; {} measured "
      "now\n",
      table.str(), costs.metrics.latency_us, costs.metrics.kernels, costs.metrics.critical_path_us,
      metric(costs.metrics.flops), byte_str(costs.metrics.bytes), byte_str(costs.metrics.peak_bytes), costs.measured);
}

}  // namespace isomer
