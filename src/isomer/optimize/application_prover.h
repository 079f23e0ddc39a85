#pragma once
// Proves the individual applications that led to a graph: with their extents, attributes and lists, for all elements.

#include "isomer/certificate/replay.h"
#include "isomer/proof/prove.h"

namespace isomer {

/// The applications of one rule.
struct AppliedProofs {
  size_t applications = 0;
  size_t proved = 0;
  size_t given_up = 0;      ///< neither proved nor refuted (Proof::gave_up)
  std::string reason = {};  ///< why the first unproved application could not be proved
};

/// Proves every application that a replay shows it. Applications that differ only in their place are proved once.
class ApplicationProver {
 public:
  /// Returns the argument for a replay, which must not outlive this object.
  replay::Watch watch();
  /// By the names of the rules that were applied.
  const std::map<std::string, AppliedProofs>& proofs() const { return proofs_; }

 private:
  void prove(const Graph& graph, const replay::Instance& instance);

  std::map<std::string, AppliedProofs> proofs_;
  std::map<std::string, Proof> known_;  // by what a proof depends on
  const std::shared_ptr<Solver> solver_ = std::make_shared<Solver>();
};

}  // namespace isomer
