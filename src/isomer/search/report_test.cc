#include "isomer/search/report.h"

#include <gtest/gtest.h>

namespace isomer {
namespace {

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
