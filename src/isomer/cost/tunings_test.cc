#include "isomer/cost/tunings.h"

#include <gtest/gtest.h>

#include "isomer/base/temp_dir.h"
#include "isomer/engine/inputs.h"
#include "isomer/engine/stub_testing.h"
#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

class Tunings : public testing::Test {
 protected:
  std::shared_ptr<ProfileDb> open() const {
    return std::make_shared<ProfileDb>(ProfileDb::open(folder_.path() / "profile.db").value());
  }
  /// Compiles a plan with the measurements in the database, and returns the measurements after that.
  std::vector<ProfiledKernel> compile(int threads) const {
    const auto db = open();
    const auto engine = make_engine("onednn", {.threads = threads}).value();
    EXPECT_TRUE(keep_tunings(*engine, db).has_value());
    EXPECT_TRUE(engine->activation_memory(graph_, concrete_inputs(graph_, {}).value()).has_value());
    return db->load({engine->name(), engine->version(), engine->device(), threads}).value();
  }

  const TempDir folder_ = TempDir::make().value();
  const Graph graph_ = parse_graph(R"(
    input x: f32[1,16,8,8]
    w = f32[32,16,3,3]{seed 1}
    y = Conv(x, w) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
    return y)",
                                   find_op)
                           .value();
};

TEST_F(Tunings, AreMeasuredOnceForAnyNumberOfRuns) {
  const auto first = compile(1);
  EXPECT_FALSE(first.empty());
  const auto second = compile(1);
  ASSERT_EQ(second.size(), first.size());
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(second[i].signature, first[i].signature);
    EXPECT_EQ(second[i].time.us, first[i].time.us) << "measured again";
  }
}

TEST_F(Tunings, AreOfANumberOfThreads) {
  const auto one = compile(1);
  const auto two = compile(2);
  EXPECT_FALSE(two.empty());
  EXPECT_EQ(compile(1).size(), one.size());
}

/// Only takes the store.
class Taking : public StubEngine {
 public:
  void keep_tunings(std::shared_ptr<TuningStore> given) override { store = std::move(given); }

  std::shared_ptr<TuningStore> store;
};

TEST_F(Tunings, FailuresHoldInLockedRuns) {
  constexpr double kFailed = std::numeric_limits<double>::infinity();
  Taking engine;
  ASSERT_TRUE(keep_tunings(engine, open()).has_value());
  engine.store->store("impossible", kFailed);
  engine.store->store("fast", 2);
  ASSERT_TRUE(keep_tunings(engine, open()).has_value());
  EXPECT_EQ(engine.store->find("impossible"), std::nullopt) << "tried again";
  EXPECT_EQ(engine.store->find("fast"), 2);
  const auto locked = std::make_shared<ProfileDb>(ProfileDb::open_locked(folder_.path() / "profile.db").value());
  ASSERT_TRUE(keep_tunings(engine, locked).has_value());
  EXPECT_EQ(engine.store->find("impossible"), kFailed);
  EXPECT_EQ(engine.store->find("fast"), 2);
  EXPECT_TRUE(locked->missed().empty());
}

}  // namespace
}  // namespace isomer
