#pragma once
// Is an equality a consequence of rules?

#include <functional>

#include "isomer/egraph/saturate.h"
#include "isomer/verify/rule_check.h"

namespace isomer {

/// Reads a query: a rule, with or without its name.
Result<Rule> parse_query(std::string_view text);

enum class Derivable : uint8_t {
  Derived,     ///< at every representative instance, by a chain that was replayed
  NotDerived,  ///< not within the limits
  Refuted,     ///< it is false
};
/// "derived", "not derived", "refuted".
std::string_view derivable_name(Derivable answer);

struct DerivableOptions {
  DeriveLimits limits = {};
  size_t instances = 3;    ///< representative ones at which the equality has to follow
  CheckBounds check = {};  ///< which may refute it, derived or not
};

struct DerivableAnswer {
  struct Step {
    std::string rule;
    bool forward;       ///< from the rule's source to its target
    std::string after;  ///< the term that it leads to
  };
  Derivable answer = Derivable::NotDerived;
  std::string how;             ///< one line: where it was derived, or why not
  std::string instance;        ///< where the chain stands, or where there is none
  std::string start;           ///< of the chain
  std::vector<Step> chain;     ///< at the first representative instance
  std::string counterexample;  ///< of a refuted one: both graphs, the inputs and what they give
  size_t instances = 0;        ///< at which it was derived
  size_t nodes = 0;            ///< of the largest e-graph
};

DerivableAnswer derivable(const Rule& query, const std::vector<Direction>& directions,
                          const DerivableOptions& options = {});

/// All of them, on `threads` threads; the result does not depend on how many. `done`, if given, is called behind each.
std::vector<DerivableAnswer> all_derivable(const std::vector<Rule>& queries, const std::vector<Direction>& directions,
                                           const DerivableOptions& options, int threads,
                                           const std::function<void()>& done = {});

}  // namespace isomer
