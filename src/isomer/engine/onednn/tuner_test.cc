#include "isomer/engine/onednn/tuner.h"

#include <gmock/gmock.h>

#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

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

/// Keeps times in memory.
class KeptTimes : public TuningStore {
 public:
  std::map<std::string, double> times = {};

  std::optional<double> find(const std::string& key) override {
    const auto found = times.find(key);
    return found == times.end() ? std::nullopt : std::optional(found->second);
  }
  void store(const std::string& key, double us) override { times[key] = us; }
};

TEST(Tuner, KeepsTimesAndMeasuresOnlyOthers) {
  const auto kept = std::make_shared<KeptTimes>();
  std::string log;
  const auto logging = [&](char name) {
    return Contender{[&log, name] { return PreparedTrial{[&log, name] { log += name; }}; }, std::string(1, name)};
  };
  Tuner first(true, kept);
  const std::vector<double> us = first.times(std::vector{logging('a')});
  ASSERT_EQ(kept->times.size(), 1U);
  Tuner second(true, kept);
  log.clear();
  EXPECT_EQ(second.times(std::vector{logging('a'), logging('b')})[0], us[0]);
  EXPECT_EQ(log, std::string(log.size(), 'b'));
  TuningLimit passed{.end = Deadline::after(0)};
  EXPECT_EQ(second.time(logging('a').trial, "a", passed), us[0]);
  EXPECT_FALSE(passed.exceeded);
  EXPECT_EQ(second.time(logging('c').trial, "c", passed), 0);
  EXPECT_TRUE(passed.exceeded);
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
