#pragma once
// The evaluator of a search that takes place at the same time as others.

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "isomer/base/deadline.h"
#include "isomer/eval/weight_check.h"
#include "isomer/search/evaluator.h"

namespace isomer {

/// Waits for the lock. Meanwhile, `end` can be asked to stop, since what it waits for may be stopped by it.
inline std::unique_lock<std::mutex> locked(std::mutex& lock, const Deadline& end) {
  constexpr int kYields = 100;  // most wait for microseconds, and some for the weights that a thread folds
  std::unique_lock one(lock, std::defer_lock);
  // Not a timed_mutex: the thread sanitizer of gcc 12 does not see that one is locked.
  for (int tries = 0; !one.try_lock(); ++tries) {
    end.stopped();
    if (tries < kYields)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return one;
}

/// Has costs of its own, and asks the evaluator of the whole, one thread at a time, whether a graph may be kept.
/// Weights that it refuses are not refused elsewhere. So a search does not depend on what other searches do at the same
/// time.
class SideEvaluator : public Evaluator {
 public:
  /// Keeps references. `lock` is shared by all that have the same `whole`, and `end` by all that search. `refused` are
  /// weights that were refused before.
  SideEvaluator(Evaluator& whole, std::mutex& lock, const Deadline& end, CostModel& costs, RefusedWeights refused)
      : whole_(whole), lock_(lock), end_(end), costs_(costs), refused_(std::move(refused)) {}

  /// Fails: what such searches find is prepared when they have ended.
  Result<Candidate> prepare(const Candidate& candidate) override;
  bool admits(const Graph& graph) override;
  RefusedWeights refused_in(const Graph& graph) override;
  Status refuse(const RefusedWeights& weights) override { return add_refused(refused_, weights); }
  const RefusedWeights* refused() const override { return &refused_; }
  CostModel* costs() override { return &costs_; }
  double objective(const Metrics& metrics) const override { return whole_.objective(metrics); }
  bool weighs_memory() const override { return whole_.weighs_memory(); }
  bool weighs_latency() const override { return whole_.weighs_latency(); }
  bool weighs_paths() const override { return whole_.weighs_paths(); }
  /// Fails: such searches measure nothing.
  Result<Interval> measure(const Candidate& current, const Candidate& candidate) override;

 private:
  Evaluator& whole_;
  std::mutex& lock_;
  const Deadline& end_;
  CostModel& costs_;
  RefusedWeights refused_;
};

}  // namespace isomer
