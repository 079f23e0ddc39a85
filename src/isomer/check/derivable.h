#pragma once
// Decides whether an equality follows from rules.

#include <functional>

#include "isomer/check/rule_check.h"
#include "isomer/egraph/saturate.h"

namespace isomer {

/// Parses a query: a rule, with or without its name.
Result<Rule> parse_query(std::string_view text);

enum class Derivable : uint8_t {
  Derived,     ///< at every representative instance, by a chain that was replayed
  NotDerived,  ///< not within the limits
  Refuted,     ///< the equality is false
};
/// "derived", "not derived", "refuted".
std::string_view derivable_name(Derivable answer);

struct DerivableOptions {
  DeriveLimits limits = {};
  size_t instances = 3;    ///< number of representative instances at which the equality must follow
  CheckBounds check = {};  ///< for a check that may refute the equality, whether it is derived or not
};

struct DerivableAnswer {
  struct Step {
    std::string rule;
    bool forward;       ///< from the rule's source to its target
    std::string after;  ///< the resulting term
  };
  Derivable answer = Derivable::NotDerived;
  std::string how;             ///< one line: where it was derived, or why not
  std::string instance;        ///< instance of the chain, or the one at which there is none
  std::string start;           ///< first term of the chain
  std::vector<Step> chain;     ///< at the first representative instance
  std::string counterexample;  ///< if refuted: both graphs, the inputs and the outputs
  size_t instances = 0;        ///< number of instances at which it was derived
  size_t nodes = 0;            ///< of the largest e-graph
};

DerivableAnswer derivable(const Rule& query, const std::vector<Direction>& directions,
                          const DerivableOptions& options = {});

/// Answers all queries on `threads` threads; the result does not depend on their number. `done`, if given, is called
/// after each.
std::vector<DerivableAnswer> all_derivable(const std::vector<Rule>& queries, const std::vector<Direction>& directions,
                                           const DerivableOptions& options, int threads,
                                           const std::function<void()>& done = {});

}  // namespace isomer
