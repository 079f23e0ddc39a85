#include "isomer/search/report.h"

#include <gtest/gtest.h>

#include <tuple>

#include "isomer/cost/objective.h"

namespace isomer {
namespace {

TEST(SearchReport, StepsSayWhetherTheirChangeIsOfPenalties) {
  const double beyond = 1.5 * kBeyondLimits;
  for (const auto& [before, after, penalized] :
       {std::tuple(5.0, 3.0, false), {beyond, 3, true}, {beyond, 1.2 * kBeyondLimits, true}, {beyond, beyond, true}}) {
    std::vector<SearchStep> steps(2);
    join_steps(steps, {before, after});
    EXPECT_EQ(steps[0].delta, after - before);
    EXPECT_EQ(steps[0].penalized, penalized) << before << " to " << after;
    EXPECT_TRUE(steps[1].joined && !steps[1].penalized);
  }
}

TEST(SearchReport, TheEndOfTheTimeCountsMostInAnyOrder) {
  const std::vector<std::string> rising = {"exhausted", "growth limit", "candidate budget", "time budget",
                                           "interrupted"};
  for (size_t strong = 0; strong < rising.size(); ++strong) {
    for (size_t weak = 0; weak <= strong; ++weak) {
      SearchReport first;
      first.stop_reason = rising[strong];
      first.also_ended(rising[weak]);
      EXPECT_EQ(first.stop_reason, rising[strong]);
      SearchReport second;
      second.stop_reason = rising[weak];
      second.also_ended(rising[strong]);
      EXPECT_EQ(second.stop_reason, rising[strong]);
    }
  }
}

}  // namespace
}  // namespace isomer
