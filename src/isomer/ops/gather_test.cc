#include <cmath>

#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

TEST(Gather, TakesSlices) {
  EXPECT_EQ(infer("Gather", {{"axis", int64_t{1}}}, {f32({kN, 5, 2}), i64({3, kN})}), "f32[N,3,N,2]");
  EXPECT_TRUE(refused("Gather", {}, {f32({kN}), f32({3})}));
  EXPECT_TRUE(refused("Gather", {}, {f32({}), i64({3})}));
  const Tensor x = Tensor::floats({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run_to<float>("Gather", {}, {x, Tensor::ints({2}, {-1, 0})}), (std::vector<float>{5, 6, 1, 2}));
  EXPECT_FALSE(run("Gather", {}, {x, Tensor::ints({1}, {3})}));
}

TEST(GatherElements, TakesElements) {
  const Tensor x = Tensor::floats({2, 2}, {1, 2, 3, 4});
  const Attrs attrs{{"axis", int64_t{1}}};
  EXPECT_EQ(run_to<float>("GatherElements", attrs, {x, Tensor::ints({2, 1}, {1, -2})}), (std::vector<float>{2, 3}));
  EXPECT_FALSE(run("GatherElements", attrs, {x, Tensor::ints({2, 1}, {2, 0})}));
  EXPECT_TRUE(refused("GatherElements", attrs, {f32({2, 2}), i64({3, 1})}));
}

TEST(GatherND, FollowsCoordinates) {
  EXPECT_EQ(infer("GatherND", {}, {f32({kN, 3, 4}), i64({5, 2})}), "f32[5,4]");
  EXPECT_EQ(infer("GatherND", {{"batch_dims", int64_t{1}}}, {f32({kN, 3, 4}), i64({kN, 5, 1})}), "f32[N,5,4]");
  EXPECT_TRUE(refused("GatherND", {}, {f32({3}), i64({5, 2})}));
  EXPECT_TRUE(refused("GatherND", {}, {f32({3}), i64({5, kN})}));
  const Tensor x = Tensor::floats({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run_to<float>("GatherND", {}, {x, Tensor::ints({2, 2}, {1, 0, 0, -1})}), (std::vector<float>{3, 2}));
  EXPECT_FALSE(run("GatherND", {}, {x, Tensor::ints({1, 2}, {2, 0})}));
}

TEST(ScatterElements, Reduces) {
  const Tensor x = Tensor::floats({3}, {1, 2, 3});
  const std::vector<Tensor> operands = {x, Tensor::ints({2}, {0, 0}), Tensor::floats({2}, {10, 20})};
  EXPECT_EQ(run_to<float>("ScatterElements", {}, operands), (std::vector<float>{20, 2, 3}));
  EXPECT_EQ(run_to<float>("ScatterElements", {{"reduction", std::string("add")}}, operands),
            (std::vector<float>{31, 2, 3}));
  EXPECT_TRUE(refused("ScatterElements", {{"reduction", std::string("sub")}}, {f32({3}), i64({2}), f32({2})}));
  EXPECT_TRUE(refused("ScatterElements", {}, {f32({3}), i64({2}), f32({3})}));
  EXPECT_FALSE(run("ScatterElements", {}, {x, Tensor::ints({1}, {-4}), Tensor::floats({1}, {1})}));
  EXPECT_EQ(normalized({.op_type = "Scatter", .opset = 9, .operands = {f32({3}), i64({2}), f32({2})}}),
            "ScatterElements {axis=0, reduction=\"none\"}");
}

TEST(ScatterND, WritesSlices) {
  const Tensor x = Tensor::floats({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run_to<float>("ScatterND", {}, {x, Tensor::ints({1, 1}, {1}), Tensor::floats({1, 2}, {8, 9})}),
            (std::vector<float>{1, 2, 8, 9}));
  EXPECT_FALSE(run("ScatterND", {}, {x, Tensor::ints({1, 1}, {2}), Tensor::floats({1, 2}, {8, 9})}));
  EXPECT_TRUE(refused("ScatterND", {}, {f32({2, 2}), i64({1, 1}), f32({1, 3})}));
  EXPECT_TRUE(refused("ScatterND", {}, {f32({2, 2}), i64({1, 3}), f32({1})}));
}

TEST(TensorScatter, WritesIntoTheCache) {
  const Tensor cache = Tensor::floats({1, 3, 1}, {1, 2, 3});
  const Tensor update = Tensor::floats({1, 2, 1}, {8, 9});
  const Tensor at = Tensor::ints({1}, {2});
  EXPECT_EQ(run_to<float>("TensorScatter", {{"mode", std::string("circular")}}, {cache, update, at}),
            (std::vector<float>{9, 2, 8}));
  EXPECT_FALSE(run("TensorScatter", {}, {cache, update, at}));
}

TEST(ReverseSequence, ReversesTheFront) {
  const Attrs attrs{{"time_axis", int64_t{1}}, {"batch_axis", int64_t{0}}};
  const Tensor x = Tensor::floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run_to<float>("ReverseSequence", attrs, {x, Tensor::ints({2}, {2, 3})}),
            (std::vector<float>{2, 1, 3, 6, 5, 4}));
  EXPECT_FALSE(run("ReverseSequence", attrs, {x, Tensor::ints({2}, {4, 0})}));
  EXPECT_TRUE(refused("ReverseSequence", {{"time_axis", int64_t{2}}}, {f32({2, 3, 4}), i64({3})}));
}

TEST(OneHot, MarksPositions) {
  EXPECT_EQ(infer("OneHot", {{"depth", int64_t{4}}, {"axis", int64_t{0}}}, {i64({kN}), f32({2})}), "f32[4,N]");
  EXPECT_EQ(
      run_to<float>("OneHot", {{"depth", int64_t{2}}}, {Tensor::ints({3}, {1, -2, 5}), Tensor::floats({2}, {0, 1})}),
      (std::vector<float>{0, 1, 1, 0, 0, 0}));
  EXPECT_TRUE(refused("OneHot", {{"depth", int64_t{-1}}}, {i64({kN}), f32({2})}));
  EXPECT_TRUE(refused("OneHot", {{"depth", int64_t{2}}}, {i64({kN}), f32({3})}));
}

TEST(NonZero, IsOpaqueUntilItsDataIsKnown) {
  EXPECT_EQ(normalized({.op_type = "NonZero", .opset = 13, .operands = {f32({3})}}),
            "opaque: the extents of its results depend on data");
  const auto found = run("NonZero", {}, {Tensor::floats({2, 2}, {1, 0, -0.0F, 3})});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->front(), Tensor::ints({2, 2}, {0, 1, 0, 1}));
}

TEST(Compress, ChecksTheCondition) {
  const Tensor x = Tensor::floats({2, 2}, {1, 2, 3, 4});
  const auto condition = [](const std::vector<uint8_t>& kept) {
    return Tensor::of(DType::Bool, {static_cast<int64_t>(kept.size())}, kept);
  };
  EXPECT_EQ(run_to<float>("Compress", {{"axis", int64_t{1}}}, {x, condition({0, 1})}), (std::vector<float>{2, 4}));
  EXPECT_EQ(run_to<float>("Compress", {}, {x, condition({1, 0, 1})}), (std::vector<float>{1, 3}));
  EXPECT_FALSE(run("Compress", {{"axis", int64_t{1}}}, {x, condition({0, 0, 1})}));
}

TEST(Unique, GroupsEqualElements) {
  const auto groups = run("Unique", {}, {Tensor::floats({4}, {3, 1, 3, 2})}, 4);
  ASSERT_TRUE(groups);
  EXPECT_EQ((*groups)[0], Tensor::floats({3}, {1, 2, 3}));
  EXPECT_EQ((*groups)[1], Tensor::ints({3}, {1, 3, 0}));
  EXPECT_EQ((*groups)[2], Tensor::ints({4}, {2, 0, 2, 1}));
  EXPECT_EQ((*groups)[3], Tensor::ints({3}, {1, 1, 2}));
  EXPECT_FALSE(run("Unique", {}, {Tensor::floats({1}, {NAN})}));
}

TEST(NonMaxSuppression, DropsWhatOverlaps) {
  const Tensor boxes = Tensor::floats({1, 3, 4}, {0, 0, 1, 1, 0, 0.1F, 1, 1.1F, 5, 5, 6, 6});
  const Tensor scores = Tensor::floats({1, 1, 3}, {0.9F, 0.8F, 0.7F});
  const auto kept = run("NonMaxSuppression", {}, {boxes, scores, Tensor::ints({}, {3}), Tensor::floats({}, {0.5F})});
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->front(), Tensor::ints({2, 3}, {0, 0, 0, 0, 0, 2}));
  EXPECT_TRUE(refused("NonMaxSuppression", {}, {f32({1, 3, 5}), f32({1, 1, 3})}));
}

}  // namespace
}  // namespace isomer::testing
