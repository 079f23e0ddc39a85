#include "isomer/engine/onednn/plan_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

class PlanCacheTest : public testing::Test {
 protected:
  std::shared_ptr<const onednn::Plan> get(PlanCache& cache, int64_t extent) {
    const TensorType type{DType::Float, {extent}};
    return cache
        .get({&type, 1},
             [&] {
               ++made_;
               return onednn::Plan::make(graph_, {&type, 1}, {.tune = false});
             })
        .value();
  }
  static Tensor ones(int64_t extent) {
    return Tensor::floats({extent}, std::vector<float>(static_cast<size_t>(extent), 1.0F));
  }

  const Graph graph_ = parse_graph("input x: f32[N]\n y = Add(x, x)\n return y", find_op).value();
  int made_ = 0;
};

TEST_F(PlanCacheTest, DropsWhatWasUsedLongestAgo) {
  PlanCache cache(2);
  const auto one = get(cache, 1);
  get(cache, 2);
  EXPECT_EQ(get(cache, 1), one);
  EXPECT_EQ(made_, 2);
  get(cache, 3);  // 2 is removed
  EXPECT_EQ(get(cache, 1), one);
  EXPECT_EQ(made_, 3);
  get(cache, 2);
  EXPECT_EQ(made_, 4);
}

TEST_F(PlanCacheTest, APlanThatIsDroppedGoesWithItsLastUser) {
  PlanCache cache(1);
  std::weak_ptr<const onednn::Plan> dropped;
  {
    const auto held = get(cache, 4);
    dropped = held;
    std::vector<std::thread> threads;
    std::vector<int> wrong(3, 0);
    threads.reserve(wrong.size());
    for (int& count : wrong)
      threads.emplace_back([&count, held] {
        for (int i = 0; i < 50; ++i)
          if (held->run(std::vector{ones(4)}).value()[0] != Tensor::floats({4}, {2, 2, 2, 2})) ++count;
      });
    for (int64_t extent = 5; extent < 15; ++extent) get(cache, extent);  // while they run
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(3, 0));
    EXPECT_FALSE(dropped.expired());
  }
  EXPECT_TRUE(dropped.expired());
}

TEST_F(PlanCacheTest, AnErrorLeavesWhatThereIs) {
  PlanCache cache(1);
  const auto four = get(cache, 4);
  const TensorType type{DType::Float, {5}};
  EXPECT_FALSE(cache.get({&type, 1}, []() -> Result<onednn::Plan> { return fail("no"); }).has_value());
  EXPECT_EQ(get(cache, 4), four);
}

}  // namespace
}  // namespace isomer
