#pragma once
// Searches that can take place at the same time.

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "isomer/base/ahead.h"
#include "isomer/search/side_evaluator.h"

namespace isomer {

/// Searches that know nothing of each other. Each has costs of its own, and the weights that were refused before all of
/// them. So what they find does not depend on how many take place at the same time, unless a time limit ends one.
template <class Found>
class SideBySide {
 public:
  /// The means of one search.
  struct Side {
    Evaluator& evaluator;
    int threads;    ///< that it may use
    size_t thread;  ///< on which it takes place; 0: the one that takes results
    Deadline end;
  };
  using Search = std::function<Found(size_t number, const Side& side)>;

  /// Keeps a reference to the evaluator. Begins the searches number 0 to `count` - 1 on `threads` threads, this one
  /// included, or on one if costs cannot be copied. After `begin`, none begins; after `end`, they should end.
  SideBySide(Evaluator& whole, size_t count, int threads, Deadline begin, Deadline end, Search search)
      : whole_(whole),
        begin_(std::move(begin)),
        end_(std::move(end)),
        search_(std::move(search)),
        refused_(whole.refused() == nullptr ? RefusedWeights() : *whole.refused()),
        copies_(copies_of(*whole.costs(), std::min(std::max<size_t>(count, 1), static_cast<size_t>(threads)) - 1)),
        threads_each_(threads / static_cast<int>(copies_.size() + 1)),
        ahead_(copies_.size() + 1, [this](size_t number, size_t thread, const std::atomic<bool>& abandoned) {
          return run(number, thread, end_.unless(abandoned));
        }) {
    for (size_t number = 0; number < count; ++number) ahead_.add(number, number);
  }

  /// Returns what a search found; nothing if it did not begin in time. From now on, the evaluator refuses the weights
  /// that the search refused.
  std::optional<Found> take(size_t number) {
    std::optional<Done> done = ahead_.take(number, [this] { end_.stopped(); });
    if (!done) done = run(number, 0, end_);
    if (!*done) return std::nullopt;
    const auto one = lock();
    const auto ignored = whole_.refuse((*done)->second);
    return std::move((*done)->first);
  }

  /// Must be held while the evaluator is used, since searches that were not taken use it too.
  std::unique_lock<std::mutex> lock() { return locked(lock_, end_); }

 private:
  using Done = std::optional<std::pair<Found, RefusedWeights>>;

  Done run(size_t number, size_t thread, const Deadline& end) {
    if (begin_.passed()) return std::nullopt;
    SideEvaluator evaluator(whole_, lock_, end_, thread == 0 ? *whole_.costs() : *copies_[thread - 1], refused_);
    Found found = search_(number, {evaluator, threads_each_, thread, end});
    return std::pair(std::move(found), *evaluator.refused());
  }

  Evaluator& whole_;
  const Deadline begin_;
  const Deadline end_;
  const Search search_;
  const RefusedWeights refused_;
  const std::vector<std::unique_ptr<CostModel>> copies_;
  const int threads_each_;
  std::mutex lock_;  // of the evaluator
  Ahead<size_t, Done> ahead_;
};

}  // namespace isomer
