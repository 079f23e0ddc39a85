// isomer rules derive: checks whether equalities follow from rules.

#include <map>

#include "isomer/base/progress.h"
#include "isomer/base/stopwatch.h"
#include "isomer/base/table.h"
#include "isomer/check/derivable.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/rules/builtin.h"

namespace isomer {
namespace {

struct DeriveCommand {
  CommandFiles files;
  std::string query;
  std::string from;
  std::vector<std::string> rules;
  DerivableOptions options;
  int threads = 2;
  bool json = false;
};

Result<std::vector<Rule>> chosen_rules(const std::vector<std::string>& files) {
  if (files.empty()) return builtin_rules();
  std::vector<Rule> out;
  for (const std::string& file : files) {
    ISOMER_TRY(std::vector<Rule> more, load_rules(file));
    std::move(more.begin(), more.end(), std::back_inserter(out));
  }
  return out;
}

Result<std::vector<Rule>> queries_of(const DeriveCommand& command) {
  if (command.query.empty() == command.from.empty()) return fail("give either an equality or --from FILE");
  if (!command.from.empty()) return load_rules(command.from);
  ISOMER_TRY(Rule query, parse_query(command.query));
  return std::vector<Rule>{std::move(query)};
}

nlohmann::json report_of(const Rule& query, const DerivableAnswer& answer) {
  nlohmann::json chain = nlohmann::json::array();
  for (const DerivableAnswer::Step& step : answer.chain)
    chain.push_back({{"rule", step.rule}, {"direction", step.forward ? "forward" : "backward"}, {"term", step.after}});
  nlohmann::json out{{"name", query.name},          {"answer", derivable_name(answer.answer)}, {"how", answer.how},
                     {"instance", answer.instance}, {"instances", answer.instances},           {"nodes", answer.nodes}};
  if (answer.answer == Derivable::Derived) {
    out["start"] = answer.start;
    out["chain"] = chain;
  }
  if (answer.answer == Derivable::Refuted) out["counterexample"] = answer.counterexample;
  return out;
}

void print_answer(const DerivableAnswer& answer) {
  switch (answer.answer) {
    case Derivable::Derived:
      fmt::print("derived {}, in {} steps at {}\n\n  {}\n", answer.how, answer.chain.size(), answer.instance,
                 answer.start);
      for (const DerivableAnswer::Step& step : answer.chain)
        fmt::print("= {}\n    by {}, {}\n", step.after, step.rule, step.forward ? "forward" : "backward");
      return;
    case Derivable::NotDerived:
      fmt::print("not derived within the limits: {}", answer.how);
      fmt::print("{}\n", answer.instance.empty() ? "" : " at " + answer.instance);
      return;
    case Derivable::Refuted:
      fmt::print("refuted:\n{}", answer.counterexample);
  }
}

/// Returns the rules of a chain in order; `'` marks those that are applied from target to source.
std::string chain_text(const DerivableAnswer& answer) {
  std::string out;
  for (const DerivableAnswer::Step& step : answer.chain)
    out += (out.empty() ? "" : ", ") + step.rule + (step.forward ? "" : "'");
  return out;
}

void print_table(const std::vector<Rule>& queries, const std::vector<DerivableAnswer>& answers, double seconds) {
  Table table({"<equality", "<answer", ">steps", "<chain, or why not"});
  std::map<Derivable, size_t> counts;
  for (size_t i = 0; i < queries.size(); ++i) {
    const DerivableAnswer& answer = answers[i];
    const bool derived = answer.answer == Derivable::Derived;
    ++counts[answer.answer];
    table.row({queries[i].name, std::string(derivable_name(answer.answer)),
               derived ? std::to_string(answer.chain.size()) : "", derived ? chain_text(answer) : answer.how});
  }
  fmt::print("{}{} derived, {} not derived, {} refuted; {:.1f} s\n", table.str(), counts[Derivable::Derived],
             counts[Derivable::NotDerived], counts[Derivable::Refuted], seconds);
}

Result<int> derive(const DeriveCommand& command) {
  ISOMER_TRY(const std::vector<Rule> queries, queries_of(command));
  ISOMER_TRY(const std::vector<Rule> rules, chosen_rules(command.rules));
  const std::vector<Direction> directions = directions_of(rules);
  const Stopwatch watch;
  std::vector<DerivableAnswer> answers;
  {
    const Progress progress(fmt::format("{} equalities from {} rules", queries.size(), rules.size()));
    answers = all_derivable(queries, directions, command.options, command.threads);
  }
  const double seconds = watch.seconds();
  if (command.json) {
    nlohmann::json report = nlohmann::json::array();
    for (size_t i = 0; i < queries.size(); ++i) report.push_back(report_of(queries[i], answers[i]));
    print_json({{"equalities", report}, {"rules", rules.size()}, {"seconds", seconds}});
  } else if (command.from.empty()) {
    print_answer(answers[0]);
  } else {
    print_table(queries, answers, seconds);
  }
  for (const DerivableAnswer& answer : answers)
    if (answer.answer != Derivable::Derived) return kFinding;
  return kDone;
}

}  // namespace

void add_rules_derive(CLI::App& rules, int& exit_code) {
  const auto command = std::make_shared<DeriveCommand>();
  CLI::App* sub = rules.add_subcommand("derive", "Check whether equalities follow from the rules");
  sub->add_option("equality", command->query, "SOURCE => TARGET, as in a rule, optionally with `where`");
  command->files.reads(*sub, "--from", command->from, "Rule file with many equalities, instead of one");
  command->files.reads(*sub, "--rules", command->rules, "Rule files instead of the built-in rules");
  DeriveLimits& limits = command->options.limits;
  sub->add_option("--max-nodes", limits.nodes, "Maximum number of nodes of the e-graph")
      ->check(in_range(IntegerRange{.min = 1, .max = 1'000'000}))
      ->capture_default_str();
  sub->add_option("--max-rounds", limits.rounds, "Maximum number of rounds of saturation")
      ->check(in_range(IntegerRange{.min = 0, .max = 1000}))
      ->capture_default_str();
  sub->add_option("--time-limit", limits.seconds, "Seconds for each instance; 0: none")
      ->check(in_range(kTimeBudget))
      ->capture_default_str();
  sub->add_flag("--all-weights", limits.all_weights, "Treat the condition weight(...) of rules as true for all values");
  sub->add_option("--instances", command->options.instances, "Number of instances at which an equality must follow")
      ->check(in_range(IntegerRange{.min = 1, .max = 100}))
      ->capture_default_str();
  sub->add_option("--threads", command->threads, "Number of threads")
      ->check(in_range(IntegerRange{.min = 1, .max = 256}))
      ->capture_default_str();
  add_json(*sub, command->json);
  sub->footer(
      "Example: isomer rules derive '(MatMul (MatMul (MatMul ?a ?b) ?c) ?d) => (MatMul ?a (MatMul ?b (MatMul ?c ?d)))\n"
      "  where rank(?a) == 2 and rank(?b) == 2 and rank(?c) == 2 and rank(?d) == 2 and real(?a)'\n"
      "Exit code 1: an equality is not derived, or refuted. docs/reference/derive.md explains the answers.");
  sub->callback(
      [command, &exit_code] { exit_code = finish(command->files, [&](FileUses&) { return derive(*command); }); });
}

}  // namespace isomer
