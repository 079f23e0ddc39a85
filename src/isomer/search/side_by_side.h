#pragma once
// Searches that can take place at the same time.

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "isomer/base/ahead.h"
#include "isomer/search/part_evaluator.h"

namespace isomer {

/// Returns at most `count` copies of the costs; none if costs cannot be copied.
inline std::vector<std::unique_ptr<CostModel>> copies_of(const CostModel& costs, size_t count) {
  std::vector<std::unique_ptr<CostModel>> out;
  while (out.size() < count) {
    auto copy = costs.copy();
    if (copy == nullptr) break;
    out.push_back(std::move(copy));
  }
  return out;
}

/// Searches that know nothing of each other. Each has costs of its own, and the weights that were refused before all of
/// them. So what they find does not depend on how many take place at the same time, unless a time limit ends one.
template <class Found>
class SideBySide {
 public:
  /// What one search is given.
  struct Place {
    Evaluator& evaluator;
    int threads;   ///< that it may use
    bool is_here;  ///< it takes place on the thread that takes results
    Deadline end;
  };
  using Search = std::function<Found(size_t number, const Place& place)>;

  /// Keeps references. Begins the searches number 0 to `count` - 1 on `threads` threads, this one included, if costs
  /// can be copied.
  SideBySide(Evaluator& whole, size_t count, int threads, const Deadline& end, Search search)
      : whole_(whole),
        end_(end),
        search_(std::move(search)),
        refused_(whole.refused() == nullptr ? RefusedWeights() : *whole.refused()),
        copies_(copies_of(*whole.costs(), std::min(count, static_cast<size_t>(threads)) - 1)),
        threads_each_(threads / static_cast<int>(copies_.size() + 1)),
        ahead_(copies_.size() + 1, [this](size_t number, size_t thread, const std::atomic<bool>& abandoned) {
          return run(number, thread, end_.unless(abandoned));
        }) {
    for (size_t number = 0; number < count; ++number) ahead_.add(number, number);
  }

  /// Returns what a search found. From now on, the evaluator refuses the weights that it refused.
  Found take(size_t number) {
    auto done = ahead_.take(number, [this] { end_.stopped(); });
    if (!done) done = run(number, 0, end_);
    const auto one = lock();
    const auto ignored = whole_.refuse(done->second);
    return std::move(done->first);
  }

  /// Must be held while the evaluator is used, since searches that have not been taken use it too.
  std::unique_lock<std::timed_mutex> lock() { return locked(lock_, end_); }

 private:
  using Done = std::pair<Found, RefusedWeights>;

  Done run(size_t number, size_t thread, const Deadline& end) {
    PartEvaluator evaluator(whole_, lock_, end_, thread == 0 ? *whole_.costs() : *copies_[thread - 1], refused_);
    Found found = search_(number, {evaluator, threads_each_, thread == 0, end});
    return {std::move(found), *evaluator.refused()};
  }

  Evaluator& whole_;
  const Deadline& end_;
  const Search search_;
  const RefusedWeights refused_;
  const std::vector<std::unique_ptr<CostModel>> copies_;
  const int threads_each_;
  std::timed_mutex lock_;  // of the evaluator
  Ahead<size_t, Done> ahead_;
};

}  // namespace isomer
