#pragma once
// Discovery of substitutions: enumeration, confirmation, pruning (TASO, Algorithm 1 and section 2.5).

#include <functional>
#include <string>

#include "isomer/discover/redundancy.h"
#include "isomer/discover/to_rule.h"

namespace isomer {

struct DiscoverOptions {
  EnumerateOptions enumerate = {};
  /// A file for the finished passes over the largest graphs (PassLog); empty: none.
  std::string checkpoint = {};
  SaturationLimits saturation = {};
  /// Makes rules of the equalities, too.
  bool make_rules = false;
  ToRuleOptions rules = {};
  /// Told what goes on, by one thread at a time.
  std::function<void(const std::string&)> progress = {};
};

/// What is left after each stage.
struct DiscoverCounts {
  EnumerateCounts enumerated = {};
  uint64_t equal = 0;      ///< terms that equal a smaller one, up to the names of inputs
  uint64_t confirmed = 0;  ///< of these, that are equal on fresh inputs too
  uint64_t renamed = 0;    ///< after renaming inputs
  uint64_t general = 0;    ///< after taking out common subgraphs
  uint64_t needed = 0;     ///< that the others do not imply
  uint64_t rules = 0;      ///< of these, in both directions, that the bounded checker passes
};

struct Discovery {
  std::vector<TermPair> equalities;        ///< from simple to complex
  std::vector<DiscoveredRule> rules = {};  ///< in the order of the equalities
  DiscoverCounts counts = {};
};

/// `variants`: universes that differ in sizes alone; terms are enumerated in the first one. Deterministic at any number
/// of threads. Fails when a constant cannot be evaluated, or an operator not in the field.
Result<Discovery> discover(std::span<const Universe> variants, const DiscoverOptions& options);

}  // namespace isomer
