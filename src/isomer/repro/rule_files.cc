#include "isomer/repro/rule_files.h"

#include <iterator>

#include "isomer/base/digest.h"

namespace isomer {

extern const char* const kBenchmarkRules;   // generated from rulesets/benchmark.rules
extern const char* const kProductsRules;    // generated from rulesets/products.rules
extern const char* const kDiscoveredRules;  // generated from rulesets/discovered.rules

namespace {

Status add_rules(const std::string& file, const char* text, EmbeddedRules& all) {
  ISOMER_TRY(std::vector<Rule> rules, in_context(file, parse_rules(text)));
  std::ranges::move(rules, std::back_inserter(all.rules));
  all.digests[file] = text_digest(text);
  return {};
}

}  // namespace

std::string EmbeddedRules::files() const {
  std::string names;
  for (const auto& [file, digest] : digests) names += (names.empty() ? "" : " and ") + file;
  return names;
}

Result<EmbeddedRules> benchmark_rules() {
  EmbeddedRules all;
  ISOMER_CHECK(add_rules("benchmark.rules", kBenchmarkRules, all));
  return all;
}

Result<EmbeddedRules> single_step_rules() {
  ISOMER_TRY(EmbeddedRules all, benchmark_rules());
  ISOMER_CHECK(add_rules("products.rules", kProductsRules, all));
  return all;
}

Result<EmbeddedRules> discovered_rules() {
  EmbeddedRules all;
  ISOMER_CHECK(add_rules("discovered.rules", kDiscoveredRules, all));
  return all;
}

}  // namespace isomer
