#include "isomer/engine/onednn/strides.h"

#include <gtest/gtest.h>

#include "isomer/engine/onednn/testing.h"

namespace isomer::onednn {
namespace {

const Dim kN = Dim::symbol("N");

TEST(Strides, FollowTheOrderOfTheAxes) {
  EXPECT_EQ(row_major({2, kN, 5}), (Strides{kN * 5, 5, 1}));
  EXPECT_EQ(innermost({2, kN, 5}, 1), (Strides{kN * 5, 1, kN}));
  EXPECT_EQ(packed({2, kN, 5}, Ints{2, 0, 1}), (Strides{kN, 1, kN * 2}));
  EXPECT_EQ(order_of({kN, 1, kN * 2}), (Ints{2, 0, 1}));
  EXPECT_TRUE(row_major({}).empty());
}

TEST(Strides, OfViewsHaveGapsWhereElementsAreLeftOut) {
  const Graph graph = graph_of(
      "input x: f32[2,6,N]\nt = Transpose(x) {perm=[2,0,1]}\ns = Slice(t) {axes=[-1], starts=[0], ends=[6], "
      "steps=[3]}\n"
      "u = Slice(x) {axes=[1], starts=[0], ends=[4], steps=[1]}\nv, w = Split(x) {axis=0, split=[1,1]}\n"
      "return s, u, v, w");
  const auto maker = [&](size_t output) { return graph.producer_node(graph.outputs()[output]); };
  const Strides transposed = viewed(graph.producer_node(graph.operands(maker(0))[0]), row_major({2, 6, kN}));
  EXPECT_EQ(transposed, (Strides{1, kN * 6, kN}));
  EXPECT_TRUE(is_packed({kN, 2, 6}, transposed));
  EXPECT_EQ(viewed(maker(0), transposed), (Strides{1, kN * 6, kN * 3}));
  EXPECT_FALSE(is_packed({kN, 2, 2}, viewed(maker(0), transposed)));
  EXPECT_FALSE(is_packed({2, 4, kN}, viewed(maker(1), row_major({2, 6, kN}))));
  EXPECT_TRUE(is_packed({1, 6, kN}, viewed(maker(2), row_major({2, 6, kN}))));
}

TEST(Strides, OfAxesOfExtent1DoNotMatter) {
  EXPECT_TRUE(same_places({1, 3, 1, 4}, {12, 4, 4, 1}, {7, 4, 9, 1}));
  EXPECT_FALSE(same_places({1, 3, 1, 4}, {12, 4, 4, 1}, {12, 1, 4, 3}));
}

}  // namespace
}  // namespace isomer::onednn
