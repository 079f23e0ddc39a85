#pragma once
// Discovery of substitutions: enumeration, confirmation, pruning (TASO, Algorithm 1 and section 2.5).

#include <functional>
#include <string>

#include "isomer/discover/redundancy.h"
#include "isomer/discover/to_rule.h"

namespace isomer {

struct DiscoverOptions {
  EnumerateOptions enumerate = {};
  /// Also converts the equalities to rules.
  bool make_rules = false;
  /// Called with progress messages, by one thread at a time.
  std::function<void(const std::string&)> progress = {};
};

/// Counts after each stage.
struct DiscoverCounts {
  EnumerateCounts enumerated = {};
  uint64_t equal = 0;      ///< terms that equal a smaller one, up to the names of inputs
  uint64_t confirmed = 0;  ///< of these, equal on fresh inputs too
  uint64_t renamed = 0;    ///< after renaming inputs
  uint64_t general = 0;    ///< after removing common subgraphs
  uint64_t needed = 0;     ///< not implied by the others
  uint64_t rules = 0;      ///< rules from these, in both directions, that pass the bounded checker
};

struct Discovery {
  std::vector<TermPair> equalities;        ///< from simple to complex
  std::vector<DiscoveredRule> rules = {};  ///< in the order of the equalities
  DiscoverCounts counts = {};
};

/// `variants`: universes that differ only in sizes; terms are enumerated in the first one. The result does not depend
/// on the number of threads. Fails if a constant cannot be evaluated, or an operator does not compute in the field.
Result<Discovery> discover(std::span<const Universe> variants, const DiscoverOptions& options);

}  // namespace isomer
