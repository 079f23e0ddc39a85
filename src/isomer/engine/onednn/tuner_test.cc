#include "isomer/engine/onednn/tuner.h"

#include <gmock/gmock.h>

#include <limits>

namespace isomer::onednn {
namespace {

using testing::ElementsAre;

TEST(Tuner, MeasuresContendersInTurn) {
  std::string log;
  const auto logging = [&](char name) {
    return Contender{[&log, name] { return PreparedTrial{[&log, name] { log += name; }}; }, std::string(1, name)};
  };
  Tuner tuner(true);
  const std::vector<Contender> two = {logging('a'), logging('b')};
  const std::vector<double> us = tuner.times(two);
  EXPECT_THAT(us, testing::Each(testing::Gt(0)));
  EXPECT_TRUE(log.starts_with("abab")) << log;
  log.clear();
  const std::vector<double> again = tuner.times(std::vector{logging('b'), logging('c'), logging('a'), logging('c')});
  EXPECT_THAT(again, ElementsAre(us[1], again[3], us[0], again[1]));
  EXPECT_EQ(log, std::string(log.size(), 'c')) << "only what is not known";
}

TEST(Tuner, NeverChoosesKernelsThatCannotBeMadeOrRun) {
  const auto fail = [] { throw dnnl::error(dnnl_unimplemented, "no such kernel"); };
  int runs = 0;
  const std::vector<Contender> contenders = {{[&]() -> PreparedTrial { throw std::bad_alloc(); }, "cannot be made"},
                                             {[&] { return PreparedTrial{[&] { ++runs; }}; }, "can"},
                                             {[&] { return PreparedTrial{fail}; }, "cannot run"},
                                             {[&] {
                                                return PreparedTrial{[&] {
                                                  if (runs > 2) fail();
                                                }};
                                              },
                                              "fails later"}};
  Tuner tuner(true);
  const double never = std::numeric_limits<double>::infinity();
  EXPECT_THAT(tuner.times(contenders), ElementsAre(never, testing::Lt(never), never, never));
}

}  // namespace
}  // namespace isomer::onednn
