#include "isomer/optimize/prove_steps.h"

#include "isomer/optimize/certify.h"

namespace isomer {
Result<std::map<std::string, AppliedProofs>> prove_steps(const Graph& start, const Graph& end,
                                                         const SearchReport& search, const RuleSet& rules,
                                                         const replay::KnownConstants& folded) {
  ApplicationProver prover;
  ISOMER_CHECK(moves_of(start, end, search, rules, prover.watch(), folded));
  return prover.proofs();
}

}  // namespace isomer
