#include "isomer/ir/diff.h"

#include <gmock/gmock.h>

#include "isomer/ir/dot_diff.h"
#include "isomer/ir/testing.h"

namespace isomer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Names of the changed nodes of each region.
std::vector<std::string> changed(const Graph& graph, const std::vector<uint32_t>& regions) {
  std::vector<std::string> names;
  for (NodeId id = 0; id < regions.size(); ++id)
    if (regions[id] != kUnchanged)
      names.push_back(fmt::format("{}:{}", regions[id], graph.name(graph.node(id).result())));
  return names;
}

TEST(Diff, EqualGraphsHaveNoRegions) {
  const Graph graph = parsed("input x: f32[2]\n a = Scale(x)\n y = Add(a, x)\n return y");
  const Graph renamed = parsed("input q: f32[2]\n b = Scale(q)\n z = Add(b, q)\n return z");
  const GraphDiff diff = diff_graphs(graph, renamed);
  EXPECT_EQ(diff.regions, 0);
  EXPECT_THAT(diff.alignment.to_after, ElementsAre(0, 1, 2));
}

// All nodes after the first change compute something else, but only two of them changed.
TEST(Diff, WhatFollowsAChangeIsNotChanged) {
  const Graph before = parsed(R"(
    input x: f32[2]
    a = Scale(x) {by=3.0}
    b = Scale(a)
    c = Add(b, x)
    d = Scale(c) {by=5.0}
    y = Max(d, c)
    return y)");
  const Graph after = parsed(R"(
    input x: f32[2]
    a = Scale(x) {by=4.0}
    b = Scale(a)
    c = Add(b, x)
    d = Scale(c) {by=6.0}
    d2 = Scale(d) {by=7.0}
    y = Max(d2, c)
    return y)");
  const GraphDiff diff = diff_graphs(before, after);
  EXPECT_EQ(diff.regions, 2);
  EXPECT_THAT(changed(before, diff.region_before), ElementsAre("0:a", "1:d"));
  EXPECT_THAT(changed(after, diff.region_after), ElementsAre("0:a", "1:d", "1:d2"));
}

TEST(Diff, NeedsNoNames) {
  const Graph before = parsed(R"(
    input x: f32[2]
    a = Scale(x) {by=3.0}
    b = Scale(a)
    y = Max(b, x)
    return y)");
  const Graph after = parsed(R"(
    input x: f32[2]
    p = Scale(x) {by=4.0}
    q = Scale(p)
    r = Max(x, q)
    return r)");
  const GraphDiff diff = diff_graphs(before, after);
  EXPECT_THAT(changed(before, diff.region_before), ElementsAre("0:a"));
  EXPECT_THAT(changed(after, diff.region_after), ElementsAre("0:p"));
}

TEST(Diff, ANodeThatIsGoneOrNewIsARegionOfOneSide) {
  const Graph with = parsed(R"(
    input x: f32[2]
    a = Scale(x) {by=1.0}
    y = Add(a, x)
    return y)");
  const Graph without = parsed("input x: f32[2]\n y = Add(x, x)\n return y");
  const GraphDiff gone = diff_graphs(with, without);
  EXPECT_THAT(changed(with, gone.region_before), ElementsAre("0:a"));
  EXPECT_THAT(changed(without, gone.region_after), ElementsAre());
  const GraphDiff added = diff_graphs(without, with);
  EXPECT_THAT(changed(with, added.region_after), ElementsAre("0:a"));
  EXPECT_EQ(added.regions, 1);
}

TEST(Diff, ANodeThatReadsOtherNodesThatStayedHasChanged) {
  const Graph before = parsed("input x: f32[2]\n input z: f32[2]\n a = Scale(x)\n y = Add(a, x)\n return y, a");
  const Graph after = parsed("input x: f32[2]\n input z: f32[2]\n a = Scale(x)\n y = Add(a, z)\n return y, a");
  const GraphDiff diff = diff_graphs(before, after);
  EXPECT_THAT(changed(before, diff.region_before), ElementsAre("0:y"));
  EXPECT_THAT(changed(after, diff.region_after), ElementsAre("0:y"));
}

TEST(Diff, OtherWeightsAreAChange) {
  const Graph before = parsed("input x: f32[2]\n w = f32[2]{1,2}\n a = Add(x, w)\n y = Scale(a)\n return y");
  const Graph after = parsed("input x: f32[2]\n w = f32[2]{1,3}\n a = Add(x, w)\n y = Scale(a)\n return y");
  const GraphDiff diff = diff_graphs(before, after);
  EXPECT_THAT(changed(before, diff.region_before), ElementsAre("0:a"));
  EXPECT_THAT(changed(after, diff.region_after), ElementsAre("0:a"));
}

/// A chain of `length` Scale operators, in which number `changed` multiplies by 7.
std::string chain(int length, int changed) {
  std::string text = "input x: f32[2]\n v0 = Scale(x)\n";
  for (int i = 1; i < length; ++i)
    text += fmt::format(" v{} = Scale(v{}) {{by={}}}\n", i, i - 1, i == changed ? "7.0" : "3.0");
  return text + fmt::format(" return v{}", length - 1);
}

TEST(DotDiff, DrawsWhatIsNearAChangeAndCountsTheRest) {
  const Graph before = parsed(chain(9, -1));
  const Graph after = parsed(chain(9, 4));
  const GraphDiff diff = diff_graphs(before, after);
  const std::string text = dot_diff(before, after, diff, {.hops = 1});
  EXPECT_EQ(text.substr(text.find("  subgraph cluster_b {")), R"(  subgraph cluster_b {
    label="after: 9 operators";
    style=rounded; color=gray;
    bg0 [style=dashed, label="4 nodes"];
    b4 [label="Scale\nf32[2]"];
    b6 [label="Scale\nf32[2]"];
    bg7 [style=dashed, label="3 nodes"];
    subgraph cluster_b_0 {
      label="1"; labeljust=l; style=rounded; color="#1e7e34"; fontcolor="#1e7e34";
      b5 [label="Scale\nf32[2]", style=filled, fillcolor="#d5f0d9", color="#1e7e34"];
    }
    bg0 -> b4;
    b4 -> b5;
    b5 -> b6;
    b6 -> bg7;
  }
}
)");
  EXPECT_THAT(text, HasSubstr("subgraph cluster_a_0"));
  const std::string all = dot_diff(before, after, diff, {.all = true});
  EXPECT_THAT(all, Not(HasSubstr("dashed")));
  EXPECT_THAT(all, HasSubstr("a0 [shape=ellipse, label=\"x\\nf32[2]\"]"));
  EXPECT_THAT(all, HasSubstr("ao0 [shape=ellipse, label=\"v8\"]"));
}

// The surroundings of an addition on one side are also drawn on the other side.
TEST(DotDiff, DrawsTheSamePlaceOnBothSides) {
  const Graph before = parsed("input x: f32[2]\n a = Scale(x)\n y = Add(x, x)\n return y, a");
  const Graph after = parsed("input x: f32[2]\n a = Scale(x)\n b = Scale(x) {by=1.0}\n y = Add(b, x)\n return y, a");
  const std::string text = dot_diff(before, after, diff_graphs(before, after), {.hops = 1});
  EXPECT_THAT(text, HasSubstr("[label=\"Add\\nf32[2]\"];\n"));
  EXPECT_THAT(text, Not(HasSubstr("cluster_a_0")));
  EXPECT_THAT(text, HasSubstr("cluster_b_0"));
}

// A long edge past the change would join the hidden nodes before and after it, and the picture would have a cycle.
TEST(DotDiff, GroupsAreConvex) {
  const std::string head = "input x: f32[2]\n a = Scale(x)\n b = Scale(a) {by=3.0}\n c = Scale(b) {by=3.0}\n";
  const std::string tail = " e = Scale(d)\n f = Scale(e)\n g = Add(f, a)\n y = Scale(g)\n return y";
  const Graph before = parsed(head + " d = Scale(c) {by=5.0}\n" + tail);
  const Graph after = parsed(head + " d = Scale(c) {by=6.0}\n" + tail);
  const std::string text = dot_diff(before, after, diff_graphs(before, after), {.hops = 1});
  EXPECT_THAT(text, HasSubstr("ag0 -> ag6;\n"));
  EXPECT_THAT(text, Not(HasSubstr("ag6 -> ag0")));
}

}  // namespace
}  // namespace isomer
