#pragma once
// What the search of one part asks while other parts are searched.

#include <mutex>
#include <utility>

#include "isomer/eval/weight_check.h"
#include "isomer/search/evaluator.h"

namespace isomer {

/// Has costs of its own, and asks the evaluator of the whole, one thread at a time, whether a graph may be kept.
/// Weights that it refuses are not refused elsewhere. So a search does not depend on what other searches do at the same
/// time.
class PartEvaluator : public Evaluator {
 public:
  /// Keeps references. `lock` is shared by all that have the same `whole`. `refused` are weights that were refused
  /// before.
  PartEvaluator(Evaluator& whole, std::mutex& lock, CostModel& costs, RefusedWeights refused)
      : whole_(whole), lock_(lock), costs_(costs), refused_(std::move(refused)) {}

  /// Parts are not prepared.
  Result<Candidate> prepare(const Candidate& candidate) override;
  bool admits(const Graph& graph) override;
  RefusedWeights refused_in(const Graph& graph) override;
  Status refuse(RefusedWeights weights) override { return add_refused(refused_, std::move(weights)); }
  const RefusedWeights* refused() const override { return &refused_; }
  CostModel* costs() override { return &costs_; }
  double objective(const Metrics& metrics) const override { return whole_.objective(metrics); }
  bool weighs_memory() const override { return whole_.weighs_memory(); }
  /// Parts are not measured.
  Result<Interval> measure(const Candidate& current, const Candidate& candidate) override;

 private:
  Evaluator& whole_;
  std::mutex& lock_;
  CostModel& costs_;
  RefusedWeights refused_;
};

}  // namespace isomer
