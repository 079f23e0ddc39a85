#pragma once
// The rule files of the experiments, which the program contains.

#include <map>
#include <string>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/rules/rule.h"

namespace isomer {

struct EmbeddedRules {
  std::vector<Rule> rules;
  std::map<std::string, std::string> digests;  ///< of the files in rulesets/, as `xxhsum -H128` prints them

  /// "benchmark.rules and products.rules".
  std::string files() const;
};

/// Single steps over convolutions.
Result<EmbeddedRules> benchmark_rules();
/// Single steps over convolutions, matrix products and gates. None applies to any number of siblings at once.
Result<EmbeddedRules> single_step_rules();
/// What the enumeration of small graphs found.
Result<EmbeddedRules> discovered_rules();

}  // namespace isomer
