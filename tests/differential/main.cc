// isomer_differential: random small graphs, rewritten by random sequences of all usable rules, must compute the same:
// exactly in the prime field, and on every executor within what rounding explains.

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "isomer/ir/text.h"
#include "isomer/optimize/rule_set.h"
#include "isomer/rules/builtin.h"
#include "trial.h"

namespace isomer::differential {
namespace {

constexpr size_t kMaxNames = 20;

struct Options {
  size_t graphs = 300;
  uint64_t seed = 1;
  std::vector<std::string> executors = {"reference"};
  std::string rules;
  std::string unchecked;
  std::vector<std::string> skip;
  size_t shown = 5;
  bool print = false;
};

void print_counts(const std::string& title, const Seeds& all) {
  if (!all.empty()) fmt::print("{}\n", title);
  for (const auto& [what, seeds] : all) fmt::print("  {} ({}, the first with seed {})\n", what, seeds.size(), seeds[0]);
}

void print(const Tally& tally, const std::vector<Rule>& rules, const Options& options) {
  fmt::print("{} graphs from seed {}, {} rewritten in {} steps; {} of them equal where arithmetic is exact\n",
             tally.graphs, options.seed, tally.rewritten, tally.steps, tally.exact);
  print_counts("close in double precision:", tally.not_exact);
  for (const auto& [name, runs] : tally.runs) {
    fmt::print("{}: {} graphs, {} outputs compared, {} unstable, at most {:.2f} of what is allowed\n", name,
               runs.graphs, runs.outputs, runs.unstable, runs.furthest);
    for (const auto& [what, seeds] :
         {std::pair("", &runs.broken), std::pair(" when rewritten", &runs.broken_rewritten)})
      if (!seeds->empty())
        fmt::print("broken by its own optimizer{}: {}, the first with seed {}\n", what, seeds->size(), seeds->front());
    print_counts("refused:", runs.refused);
    print_counts("refused when rewritten:", runs.refused_rewritten);
  }
  std::vector<std::string> idle;
  for (const Rule& rule : rules)
    if (!tally.fired.contains(rule.name)) idle.push_back(rule.name);
  fmt::print("{} of {} rules were applied", tally.fired.size(), rules.size());
  if (!idle.empty() && idle.size() <= kMaxNames) fmt::print("; never: {}", fmt::join(idle, " "));
  fmt::print("\n");
  Seeds where;
  for (const Finding& finding : tally.findings) {
    where[finding.where].push_back(finding.seed);
    if (where[finding.where].size() <= options.shown)
      fmt::print("\nFOUND, {}, seed {}\n{}\n", finding.where, finding.seed, finding.text);
  }
  print_counts("\nfindings:", where);
}

void print_chain(const Rewritten& made) {
  const auto text = [](const Graph& graph) { return print_graph(graph, {.max_elements = 64}); };
  fmt::print("{}", text(made.from.graph));
  for (const Step& step : made.steps) fmt::print("=> by {}\n{}", step.rule->name, text(step.graph));
}

Result<int> run(const Options& options) {
  ISOMER_TRY(RuleSet rules, usable_rules(options.rules, options.skip));
  if (!options.unchecked.empty()) {
    ISOMER_TRY(rules.rules, load_rules(options.unchecked));
  }
  if (rules.rules.empty()) return fail("there are no usable rules: has the lock verdicts of this checker?");
  if (options.print) {
    print_chain(rewritten(rules.rules, options.seed));
    return 0;
  }
  std::vector<Executor> executors;
  for (const std::string& name : options.executors) {
    ISOMER_TRY(Executor executor, Executor::make(name));
    executors.push_back(std::move(executor));
  }
  Tally tally;
  for (uint64_t seed = options.seed; seed < options.seed + options.graphs; ++seed)
    attempt(rules.rules, executors, seed, tally);
  print(tally, rules.rules, options);
  return tally.findings.empty() ? 0 : 1;
}

}  // namespace
}  // namespace isomer::differential

int main(int argc, char** argv) {
  using namespace isomer::differential;
  CLI::App app("Rewrites random graphs at random and compares what they compute.");
  Options options;
  app.add_option("--graphs", options.graphs, "how many");
  app.add_option("--seed", options.seed, "of the first graph");
  app.add_option("--executor", options.executors,
                 "reference, onednn, ort or ort-plain (without its own optimizations); may be repeated");
  app.add_option("--rules", options.rules, "a rule file in place of the built-in rules");
  app.add_option("--unchecked-rules", options.unchecked, "the same, whatever their verdicts");
  app.add_option("--skip-rule", options.skip, "a rule that is not used");
  app.add_option("--shown", options.shown, "findings to show of each place");
  app.add_flag("--print", options.print, "show the first graph and its rewrites, and be done");
  CLI11_PARSE(app, argc, argv);
  const auto done = run(options);
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? *done : 2;
}
