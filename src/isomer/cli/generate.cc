// isomer rules generate: finds substitutions by enumeration.

#include <fmt/ranges.h>

#include "isomer/base/file.h"
#include "isomer/base/memory.h"
#include "isomer/base/progress.h"
#include "isomer/base/stopwatch.h"
#include "isomer/base/table.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/discover/builtin.h"
#include "isomer/discover/discover.h"
#include "isomer/discover/families.h"
#include "isomer/discover/subsumption.h"

namespace isomer {
namespace {

struct GenerateOptions {
  CommandFiles files;
  std::vector<std::string> universes = universe_names();
  size_t max_operators = 0;  // of the universe
  size_t passes = 1;
  int threads = 2;
  std::string output;
  std::string equalities;
  bool json = false;
};

/// The result of one universe.
struct Generated {
  std::string universe;
  size_t max_operators;
  DiscoverCounts counts;
  std::vector<std::string> equalities;
  std::vector<DiscoveredRule> rules;
  double seconds;
};

Result<Generated> generate_one(const std::string& name, const GenerateOptions& options) {
  ISOMER_TRY(const std::vector<Universe> variants, load_universe(name));
  Progress progress;
  DiscoverOptions discovery;
  const size_t max_operators = options.max_operators == 0 ? variants[0].explore : options.max_operators;
  discovery.enumerate = {.max_nodes = max_operators, .threads = options.threads, .passes = options.passes};
  discovery.make_rules = !options.output.empty();
  discovery.progress = [&](const std::string& text) { progress.update(fmt::format("{}: {}", name, text)); };
  const Stopwatch watch;
  ISOMER_TRY(auto found, in_context(name, discover(variants, discovery)));
  Generated out{name, max_operators, found.counts, {}, std::move(found.rules), 0};
  for (const TermPair& pair : found.equalities) out.equalities.push_back(pair_text(pair, variants[0]));
  out.seconds = watch.seconds();
  return out;
}

std::vector<std::pair<std::string, uint64_t>> stages(const DiscoverCounts& counts) {
  std::vector<std::pair<std::string, uint64_t>> out;
  for (size_t n = 1; n < counts.enumerated.terms.size(); ++n)
    out.emplace_back(fmt::format("graphs of {} operators", n), counts.enumerated.terms[n]);
  out.emplace_back("equal to an earlier one", counts.equal);
  out.emplace_back("on fresh inputs, in other sizes", counts.confirmed);
  out.emplace_back("input tensor renaming", counts.renamed);
  out.emplace_back("common subgraph", counts.general);
  out.emplace_back("implied by others", counts.needed);
  if (counts.rules > 0) out.emplace_back("rules that hold in general", counts.rules);
  return out;
}

void print_table(const std::vector<Generated>& all) {
  Table table({"<universe", "<stage", ">remaining"});
  for (const Generated& each : all)
    for (const auto& [stage, n] : stages(each.counts)) table.row({each.universe, stage, std::to_string(n)});
  fmt::print("{}", table.str());
  for (const Generated& each : all)
    fmt::print("{}, up to {} operators: {} equalities in {:.1f} s\n", each.universe, each.max_operators,
               each.counts.needed, each.seconds);
}

nlohmann::json report_of(const Generated& each) {
  nlohmann::json counts;
  for (const auto& [stage, n] : stages(each.counts)) counts.push_back({{"stage", stage}, {"remaining", n}});
  return {{"universe", each.universe},
          {"max_operators", each.max_operators},
          {"counts", counts},
          {"values", each.counts.enumerated.values},
          {"equalities", each.equalities},
          {"seconds", each.seconds}};
}

/// Returns the rules of all universes, without those that follow from others, sorted by name.
std::vector<DiscoveredRule> rules_of_all(const std::vector<Generated>& all, int threads) {
  const Progress progress("looking for rules that follow from others");
  std::vector<DiscoveredRule> rules;
  for (const Generated& each : all) rules.insert(rules.end(), each.rules.begin(), each.rules.end());
  return without_instances(std::move(rules), threads);
}

std::string rule_file(const std::vector<DiscoveredRule>& found) {
  std::vector<Rule> rules;
  for (const DiscoveredRule& each : found) rules.push_back(each.rule);
  return "# Found by isomer rules generate. Not edited by hand.\n\n" + print_in_families(rules);
}

Result<int> generate(const GenerateOptions& options) {
  std::vector<Generated> all;
  for (const std::string& name : options.universes) {
    ISOMER_TRY(Generated one, generate_one(name, options));
    all.push_back(std::move(one));
  }
  if (!options.equalities.empty()) {
    std::string text;
    for (const Generated& each : all)
      text += fmt::format("# {}, up to {} operators\n{}\n", each.universe, each.max_operators,
                          fmt::join(each.equalities, "\n"));
    ISOMER_CHECK(write_file(options.equalities, text));
  }
  std::vector<DiscoveredRule> rules;
  if (!options.output.empty()) {
    rules = rules_of_all(all, options.threads);
    ISOMER_CHECK(write_file(options.output, rule_file(rules)));
  }
  if (!options.json) {
    print_table(all);
    if (!options.output.empty()) fmt::print("{} rules\n", rules.size());
    return kDone;
  }
  nlohmann::json report;
  for (const Generated& each : all) report.push_back(report_of(each));
  print_json({{"universes", report}, {"rules", rules.size()}, {"peak_rss_bytes", peak_rss_bytes()}});
  return kDone;
}

}  // namespace

void add_rules_generate(CLI::App& rules, int& exit_code) {
  const auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = rules.add_subcommand("generate", "Find small graphs that compute the same, by enumeration");
  options->files
      .reads(*command, "--universe", options->universes,
             "Universes (lists of operators and inputs to enumerate), by name or file; by default all")
      ->capture_default_str();
  command
      ->add_option("--max-operators", options->max_operators,
                   "Maximum number of operators of a graph (default: that of each universe)")
      ->check(in_range(IntegerRange{.min = 1, .max = 5}));
  command->add_option("--passes", options->passes, "Passes over the largest graphs; more passes take less memory")
      ->check(in_range(IntegerRange{.min = 1, .max = 4096}))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Number of threads")
      ->check(in_range(IntegerRange{.min = 1, .max = 256}))
      ->capture_default_str();
  options->files.writes(*command, "-o,--output", options->output,
                        "Write the rules that follow from the equalities to a rule file");
  options->files.writes(*command, "--equalities", options->equalities, "Write the equalities, one per line");
  add_json(*command, options->json);
  command->footer(
      "Example: isomer rules generate --universe matrix --max-operators 3 --equalities equal.txt\n"
      "docs/reference/discovery.md describes universes.");
  command->callback(
      [options, &exit_code] { exit_code = finish(options->files, [&](FileUses&) { return generate(*options); }); });
}

}  // namespace isomer
