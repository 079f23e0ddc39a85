#pragma once
// Decides whether two graphs are equal by rules only, and returns the chain of rules that shows it.

#include <map>

#include "isomer/egraph/explain.h"
#include "isomer/egraph/saturate.h"

namespace isomer {

/// A step of a chain: within a term, one side of `application` was replaced by the other.
struct ChainStep {
  uint32_t application;
  uint32_t root;   ///< index among the values that the rule equates
  bool from_to;    ///< the application's `from` was replaced by its `to`
  ETermPtr after;  ///< the complete term
};

/// The search for a chain, and its result.
class Derivation {
 public:
  /// `directions` must outlive it. Constants whose content hash is a key of `weights` represent any constants and are
  /// printed with its names.
  Derivation(const std::vector<Direction>& directions, const DeriveLimits& limits,
             std::map<uint64_t, std::string> weights);

  /// Returns whether `before` and `after`, over the same inputs, are equal by the rules. Returns false if this was not
  /// found within the limits (see stopped_by). An Error if a graph contains something that terms cannot express.
  Result<bool> run(const Graph& before, const Graph& after);

  const std::string& stopped_by() const { return stopped_by_; }
  const TermGraph& terms() const { return graph_; }
  const TermApplication& application(uint32_t number) const { return saturation_.application(number); }
  /// The first term of the chain, and its steps; empty if the graphs are the same.
  const ETermPtr& start() const { return start_; }
  const std::vector<ChainStep>& chain() const { return chain_; }

  /// The rule of a step, and whether it was used from its source to its target.
  const Rule& rule(const ChainStep& step) const { return application(step.application).direction->rule; }
  bool forward(const ChainStep& step) const { return application(step.application).direction->forward == step.from_to; }

 private:
  DeriveLimits limits_;
  TermGraph graph_;
  Saturation saturation_;
  std::string stopped_by_;
  ETermPtr start_;
  std::vector<ChainStep> chain_;
};

/// Returns a term in the syntax of rules: `(MatMul (Add ?x ?y) ?w)`. Attributes that equal their presets are left out.
std::string term_text(const TermGraph& graph, const ETerm& term);

}  // namespace isomer
