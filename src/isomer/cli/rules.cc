// isomer rules: lists, shows and verifies rules.

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include "isomer/base/file.h"
#include "isomer/base/progress.h"
#include "isomer/base/table.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/proof/verify_rule.h"
#include "isomer/rules/builtin.h"
#include "isomer/rules/lock.h"

namespace isomer {
namespace {

struct RulesOptions {
  CommandFiles files;
  std::vector<std::string> rule_files;  // empty: the built-in rules
  std::string name;
  std::string write;
  int threads = 2;
  bool json = false;
};

Result<RuleFile> chosen_file(const RulesOptions& options) {
  if (options.rule_files.empty()) return builtin_rule_file();
  RuleFile all;
  std::set<std::string> names;
  for (const std::string& path : options.rule_files) {
    ISOMER_TRY(RuleFile file, load_rule_file(path));
    for (Rule& rule : file.rules) {
      if (!names.insert(rule.name).second) return fail("{}: another file has a rule '{}' too", path, rule.name);
      all.rules.push_back(std::move(rule));
    }
    std::ranges::move(file.families, std::back_inserter(all.families));
    std::ranges::move(file.tactics, std::back_inserter(all.tactics));
  }
  return all;
}

Result<std::vector<Rule>> chosen_rules(const RulesOptions& options) {
  ISOMER_TRY(RuleFile file, chosen_file(options));
  return std::move(file.rules);
}

/// Returns the formula of a rule, or the purpose of a tactic: the first line of its comment.
std::string summary(const std::string& doc) { return doc.substr(0, doc.find('\n')); }

nlohmann::json report_of(const Rule& rule, const LockEntry& entry) {
  return {{"name", rule.name},
          {"family", rule.family},
          {"hash", fmt::format("{:016x}", entry.hash)},
          {"doc", rule.doc},
          {"verdict", verdict_name(entry.verdict)},
          {"how", entry.how},
          {"checker", entry.checker},
          {"axioms", fmt::format("{:016x}", entry.axioms)}};
}

/// Returns the lock's entry for a rule; `unknown` if there is none.
LockEntry known(const Lock& lock, const Rule& rule) {
  const LockEntry* entry = lock.find(rule);
  if (entry != nullptr) return *entry;
  return {rule.hash(), rule.name, Verdict::Unknown, kCheckerVersion, 0, "the lock has no verdict", rule.content()};
}

Result<int> list(const RulesOptions& options) {
  ISOMER_TRY(const RuleFile file, chosen_file(options));
  ISOMER_TRY(const Lock lock, builtin_lock());
  Table table({"<rule", "<verdict", "<what"});
  nlohmann::json report = nlohmann::json::array();
  for (const Rule& rule : file.rules) {
    const LockEntry entry = known(lock, rule);
    table.row({rule.name, std::string(verdict_name(entry.verdict)), summary(rule.doc)});
    report.push_back(report_of(rule, entry));
  }
  nlohmann::json tactics = nlohmann::json::array();
  for (const Tactic& tactic : file.tactics) {
    table.row({tactic.name, "tactic", summary(tactic.doc)});
    tactics.push_back({{"name", tactic.name}, {"doc", tactic.doc}});
  }
  if (options.json)
    print_json({{"rules", report}, {"tactics", tactics}});
  else
    fmt::print("{}", table.str());
  return kDone;
}

/// A family as it is written, and the verdict of each of its rules.
void show_family(const RuleFamily& family, const std::vector<Rule>& rules, const Lock& lock, bool json) {
  Table table({"<rule", "<verdict"});
  nlohmann::json report = nlohmann::json::array();
  for (const Rule& rule : rules) {
    if (rule.family != family.written.name) continue;
    const LockEntry entry = known(lock, rule);
    table.row({rule.name, std::string(verdict_name(entry.verdict))});
    report.push_back(report_of(rule, entry));
  }
  if (json)
    print_json({{"name", family.written.name},
                {"doc", family.written.doc},
                {"rules", report},
                {"text", print_family(family)}});
  else
    fmt::print("{}\n{}", print_family(family), table.str());
}

Result<int> show(const RulesOptions& options) {
  ISOMER_TRY(const RuleFile file, chosen_file(options));
  ISOMER_TRY(const Lock lock, builtin_lock());
  for (const Rule& rule : file.rules) {
    if (rule.name != options.name) continue;
    const LockEntry entry = known(lock, rule);
    if (options.json) {
      nlohmann::json report = report_of(rule, entry);
      report["text"] = print_rule(rule);
      print_json(report);
    } else {
      fmt::print("{}\n{}: {}\n", print_rule(rule), verdict_name(entry.verdict), entry.how);
      if (!rule.family.empty()) fmt::print("family: {}\n", rule.family);
    }
    return kDone;
  }
  for (const RuleFamily& family : file.families) {
    if (family.written.name != options.name) continue;
    show_family(family, file.rules, lock, options.json);
    return kDone;
  }
  for (const Tactic& tactic : file.tactics) {
    if (tactic.name != options.name) continue;
    if (options.json)
      print_json({{"name", tactic.name}, {"doc", tactic.doc}, {"text", print_tactic(tactic)}});
    else
      fmt::print("{}", print_tactic(tactic));
    return kDone;
  }
  return fail("there is no rule '{}'; `isomer rules list` lists them", options.name);
}

void print_verdicts(const std::vector<Rule>& rules, const std::vector<RuleVerdict>& verdicts) {
  Table table({"<rule", "<verdict", ">instances"});
  std::string findings;
  for (size_t i = 0; i < rules.size(); ++i) {
    const RuleVerdict& verdict = verdicts[i];
    table.row({rules[i].name, std::string(verdict_name(verdict.verdict)), std::to_string(verdict.instances)});
    if (verdict.verdict == Verdict::Refuted)
      findings += fmt::format("\n{} is false:\n{}", rules[i].name, verdict.counterexample);
    if (verdict.verdict == Verdict::Tested || verdict.verdict == Verdict::Unknown)
      findings += fmt::format("\n{}: {}\n", rules[i].name, verdict.how);
  }
  fmt::print("{}{}", table.str(), findings);
}

/// Returns the current text of the file to write; nothing if there is no such file, or it is a device or pipe.
Result<Lock> lock_so_far(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return Lock();
  ISOMER_TRY(const std::string text, read_file(path));
  return in_context(path, parse_lock(text));
}

Result<int> verify(const RulesOptions& options) {
  ISOMER_TRY(const auto rules, chosen_rules(options));
  ISOMER_TRY(Lock lock, lock_so_far(options.write));
  std::vector<RuleVerdict> verdicts;
  {
    const Progress progress(fmt::format("checking {} rules", rules.size()));
    verdicts = verify_rules(rules, {}, options.threads);
  }
  nlohmann::json report = nlohmann::json::array();
  bool refuted = false;
  for (size_t i = 0; i < rules.size(); ++i) {
    const LockEntry entry = lock_entry(rules[i], verdicts[i]);
    lock.put(entry);
    report.push_back(report_of(rules[i], entry));
    report.back()["instances"] = verdicts[i].instances;
    if (verdicts[i].verdict != Verdict::Refuted) continue;
    report.back()["counterexample"] = verdicts[i].counterexample;
    refuted = true;
  }
  if (options.json)
    print_json({{"rules", report}});
  else
    print_verdicts(rules, verdicts);
  if (!options.write.empty()) ISOMER_CHECK(write_file(options.write, print_lock(std::move(lock))));
  return refuted ? kFinding : kDone;
}

CLI::App* add_part(CLI::App& rules, const std::string& name, const std::string& help, const std::string& footer,
                   const std::shared_ptr<RulesOptions>& options) {
  CLI::App* command = rules.add_subcommand(name, help);
  command->footer(footer);
  options->files.reads(*command, "--rules", options->rule_files, "Rule files instead of the built-in rules");
  add_json(*command, options->json);
  return command;
}

}  // namespace

void add_rules(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("rules", "List, show, verify, derive and discover substitution rules");
  command->footer("Example: isomer rules show fold-batch-norm");
  command->require_subcommand(1);
  const auto options = std::make_shared<RulesOptions>();
  CLI::App* listed = add_part(*command, "list", "List rules with their verdicts and formulas",
                              "Example: isomer rules list --rules my.rules", options);
  listed->callback(
      [options, &exit_code] { exit_code = finish(options->files, [&](FileUses&) { return list(*options); }); });
  CLI::App* shown = add_part(*command, "show", "Show one rule or family of rules with verdicts, or one tactic",
                             "Example: isomer rules show fold-batch-norm", options);
  shown->add_option("name", options->name, "Name of the rule, family or tactic")->required();
  shown->callback(
      [options, &exit_code] { exit_code = finish(options->files, [&](FileUses&) { return show(*options); }); });
  CLI::App* verified = add_part(*command, "verify", "Check every rule on all small instances, and prove it",
                                "Example: isomer rules verify --rules my.rules\n"
                                "Exit code 1: a rule is refuted; its counterexample is printed.",
                                options);
  options->files.updates(*verified, "--write", options->write,
                         "Write the verdicts into this lock file; lines of other rules are kept");
  verified->add_option("--threads", options->threads, "Number of threads")
      ->check(in_range(IntegerRange{.min = 1, .max = 256}))
      ->capture_default_str();
  verified->callback(
      [options, &exit_code] { exit_code = finish(options->files, [&](FileUses&) { return verify(*options); }); });
  add_rules_axioms(*command, exit_code);
  add_rules_generate(*command, exit_code);
  add_rules_derive(*command, exit_code);
}

}  // namespace isomer
