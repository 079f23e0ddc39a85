#pragma once
// The mixed critical-path cost (AutoGraph: Zhao et al., AAAI 2023, equation 1).

#include "isomer/search/evaluator.h"

namespace isomer {

/// An evaluator whose objective is another one's, plus a weight times the latency of the critical path: graphs whose
/// kernels can run side by side cost less. An objective that does not depend on the latency stays as it is. Everything
/// else is the other one's.
class MixedCost : public Evaluator {
 public:
  /// Keeps a reference.
  MixedCost(Evaluator& whole, double weight) : whole_(whole), weight_(whole.weighs_latency() ? weight : 0) {}

  Result<Candidate> prepare(const Candidate& candidate) override { return whole_.prepare(candidate); }
  bool admits(const Graph& graph) override { return whole_.admits(graph); }
  RefusedWeights refused_in(const Graph& graph) override { return whole_.refused_in(graph); }
  Status refuse(const RefusedWeights& weights) override { return whole_.refuse(weights); }
  const RefusedWeights* refused() const override { return whole_.refused(); }
  CostModel* costs() override { return whole_.costs(); }
  double objective(const Metrics& metrics) const override {
    return whole_.objective(metrics) + weight_ * metrics.critical_path_us;
  }
  bool weighs_memory() const override { return whole_.weighs_memory(); }
  bool weighs_latency() const override { return whole_.weighs_latency(); }
  bool weighs_paths() const override { return weight_ != 0 || whole_.weighs_paths(); }
  std::optional<double> estimate(const Candidate& current, const Candidate& candidate) override {
    return whole_.estimate(current, candidate);
  }
  Result<Interval> measure(const Candidate& current, const Candidate& candidate) override {
    return whole_.measure(current, candidate);
  }
  bool costs_decide() const override { return whole_.costs_decide(); }
  Evaluator* by_costs() override { return whole_.by_costs(); }

 private:
  Evaluator& whole_;
  const double weight_;
};

}  // namespace isomer
