#include "isomer/search/side_by_side.h"

#include <atomic>
#include <map>
#include <stdexcept>
#include <thread>

#include "isomer/cost/roofline.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

/// Costs that can be copied, and weights that are refused.
class Whole : public Evaluator {
 public:
  CostModel* costs() override { return &costs_; }
  Status refuse(const RefusedWeights& weights) override { return add_refused(refused_, weights); }
  const RefusedWeights* refused() const override { return &refused_; }
  Result<Interval> measure(const Candidate& /*current*/, const Candidate& /*candidate*/) override {
    return fail("nothing runs");
  }

 private:
  RooflineCost costs_;
  RefusedWeights refused_{{100, "before all"}};
};

using Numbers = SideBySide<size_t>;

TEST(SideBySide, NoSearchKnowsWhatAnotherRefusesOnAnyNumberOfThreads) {
  for (const int threads : {1, 2, 8}) {
    Whole whole;
    Numbers searches(whole, 5, threads, Deadline::never(), Deadline::never(),
                     [&](size_t number, const Numbers::Side& side) {
                       EXPECT_EQ(side.evaluator.refused()->size(), 1) << "search " << number;
                       EXPECT_LT(side.thread, threads);
                       EXPECT_LE(side.threads * std::min(threads, 5), threads);
                       EXPECT_FALSE(side.evaluator.refuse({{number, "too large"}}).has_value());
                       EXPECT_EQ(side.evaluator.refused()->size(), 2);
                       return number * number;
                     });
    for (size_t number = 0; number < 5; ++number) {
      EXPECT_EQ(searches.take(number), number * number);
      const auto one = searches.lock();
      EXPECT_EQ(whole.refused()->size(), number + 2) << "the evaluator learns it when the result is taken";
    }
  }
}

TEST(SideBySide, EachThreadHasCostsOfItsOwn) {
  Whole whole;
  std::mutex guard;
  std::map<const CostModel*, std::thread::id> users;
  std::atomic<int> begun = 0;
  Numbers searches(whole, 20, 4, Deadline::never(), Deadline::never(), [&](size_t number, const Numbers::Side& side) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
    const std::scoped_lock one(guard);
    const auto [user, first] = users.emplace(side.evaluator.costs(), std::this_thread::get_id());
    EXPECT_EQ(user->second, std::this_thread::get_id());
    return number;
  });
  for (size_t number = 0; number < 20; ++number) EXPECT_EQ(searches.take(number), number);
  EXPECT_GE(users.size(), 2);
}

TEST(SideBySide, NothingBeginsTooLate) {
  for (const int threads : {1, 2}) {
    Whole whole;
    std::atomic<bool> late = false, begun = false;
    const Deadline begin = Deadline::never().unless(late);
    Numbers searches(whole, 3, threads, begin, Deadline::never(), [&](size_t number, const Numbers::Side&) {
      begun = true;
      late = true;
      return number;
    });
    if (threads == 2)
      while (!begun) std::this_thread::yield();
    EXPECT_EQ(searches.take(0), 0) << "it began in time";
    EXPECT_EQ(searches.take(2), std::nullopt);
  }
}

TEST(SideBySide, AnInterruptEndsWhatOthersSearch) {
  Whole whole;
  std::atomic<int> begun = 0;
  const Deadline end = Deadline::after(1000, [&] { return begun == 2; });
  Numbers searches(whole, 2, 2, Deadline::never(), end, [&](size_t number, const Numbers::Side& side) {
    ++begun;
    while (!side.end.passed()) std::this_thread::yield();
    return number;
  });
  EXPECT_EQ(searches.take(0), 0);
  EXPECT_EQ(searches.take(1), 1);
}

TEST(SideBySide, ThrowsWhatASearchThrowsAndAbandonsTheOthers) {
  Whole whole;
  std::atomic<bool> begun = false, ended = false;
  {
    Numbers searches(whole, 2, 3, Deadline::never(), Deadline::never(),
                     [&](size_t number, const Numbers::Side& side) -> size_t {
                       if (number == 0) throw std::runtime_error("no");
                       begun = true;
                       while (!side.end.passed()) std::this_thread::yield();
                       ended = true;
                       return number;
                     });
    while (!begun) std::this_thread::yield();
    EXPECT_THROW(static_cast<void>(searches.take(0)), std::runtime_error);
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace isomer
