// Figure 2.12: substitutions and layouts, alone, one after the other, and together.

#include "isomer/base/processor.h"
#include "isomer/cost/kernel_cost.h"
#include "isomer/repro/taso/taso.h"
#include "isomer/rules/builtin.h"

namespace isomer {
namespace {

/// BERT is the paper's network; layouts of values matter more for those with convolutions.
constexpr const char* kLayoutNetworks[] = {"bert-8", "squeezenet", "resnet18", "googlenet", "inception-e-2"};
constexpr const char* kStrategies[] = {"substitution", "layout", "sequential", "joint"};

/// Adds the rows of a network. All strategies share the costs, so a kernel has one time.
Status run_network(const std::string& name, std::span<const Rule> rules, Engine& engine, const ReproOptions& options,
                   ExperimentResult& out) {
  ISOMER_TRY(const StartNetwork network, start_network(name));
  out.hashes[name] = network.hash();
  ISOMER_TRY(ProfileDb db, ProfileDb::open({}));
  ISOMER_TRY(const auto costs, KernelCost::make(engine, db, {.footprint = footprint(network.model.graph, {})}));
  for (const char* const strategy : kStrategies) {
    SearchOptions search;
    search.search = "backtrack";
    search.layout = strategy;
    const size_t known = costs->measured();
    const bool substitutes = std::string_view(strategy) != "layout";
    ISOMER_TRY(const Searched found,
               search_by_costs(network, substitutes ? rules : std::span<const Rule>(), *costs, search, options));
    out.row({name, strategy, found.before.latency_us, found.after.latency_us, found.speedup(), found.layouts,
             found.report.candidates, costs->measured() - known, found.cpu_seconds, found.ended()});
  }
  return {};
}

Result<ExperimentResult> run_layouts(const ReproOptions& options) {
  ISOMER_TRY(const auto engine, make_engine("onednn"));
  ISOMER_TRY(const std::vector<Rule> rules, builtin_rules());
  ExperimentResult out{
      .columns = {{"network"},
                  {"what is searched"},
                  {"before", "us", 1},
                  {"after", "us", 1},
                  {"speedup", "x", 3},
                  {"decided layouts"},
                  {"candidates"},
                  {"kernels measured"},
                  {"search", "CPU s"},
                  {"ended"}},
      .differences = {
          {"engine", fmt::format("costs of the built-in runtime's kernels ({}), one thread of {}; the paper "
                                 "measures those of cuDNN on a GPU",
                                 engine->version(), processor_name())},
          {"rules", "the built-in rules, which transpose products: that is a layout in the paper"},
          {"search",
           "backtracking in parts of 30 operators, with at most 1,000 graphs each, 1.5 times the operators, and 2 "
           "steps "
           "in a row without a gain"}}};
  for (const char* const name : kLayoutNetworks)
    if (options.includes(name)) ISOMER_CHECK(run_network(name, rules, *engine, options, out));
  out.notes = {
      "The paper prints no numbers: the joint search of BERT is 1.2 to 1.3 times as fast as each of the others.",
      "Costs are predicted, from kernels that are measured once. The strategies of a network share them and begin with "
      "the same graph.",
      "Times of kernels, and so gains of a percent, may be noise: nothing here runs the complete network.",
      "Each strategy measures only kernels that the ones above it did not."};
  return out;
}

}  // namespace

Experiment taso_layouts() { return {run_layouts, {std::begin(kLayoutNetworks), std::end(kLayoutNetworks)}}; }

}  // namespace isomer
