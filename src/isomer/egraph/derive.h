#pragma once
// Whether two graphs compute the same by the rules alone, and the chain of rules that shows it.

#include <map>

#include "isomer/egraph/explain.h"
#include "isomer/egraph/saturate.h"

namespace isomer {

/// A step of a chain: within a term, one side of `application` was replaced by the other.
struct ChainStep {
  uint32_t application;
  uint32_t root;   ///< which of the values that the rule equates
  bool from_to;    ///< the application's `from` was there, and `to` is now
  ETermPtr after;  ///< the whole
};

/// The search for a chain, and what it found.
class Derivation {
 public:
  /// `directions` must outlive it. Constants whose content hash is a key of `weights` stand for any; they are called as
  /// it says.
  Derivation(const std::vector<Direction>& directions, const DeriveLimits& limits,
             std::map<uint64_t, std::string> weights);

  /// Whether `before` and `after`, over the same inputs, are equal by the rules. An Error says what a graph has that
  /// has no terms; false: not within the limits (see stopped_by).
  Result<bool> run(const Graph& before, const Graph& after);

  const std::string& stopped_by() const { return stopped_by_; }
  const TermGraph& terms() const { return graph_; }
  const TermApplication& application(uint32_t number) const { return saturation_.application(number); }
  /// Where the chain begins, and its steps; empty when the graphs are the same one.
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

/// A term as rules write terms: `(MatMul (Add ?x ?y) ?w)`. Attributes that equal their presets are left out.
std::string term_text(const TermGraph& graph, const ETerm& term);

}  // namespace isomer
