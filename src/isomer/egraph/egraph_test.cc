#include "isomer/egraph/egraph.h"

#include <gtest/gtest.h>

#include "isomer/base/rng.h"
#include "isomer/egraph/testing.h"

namespace isomer {
namespace {

TEST(EGraph, FindsEqualNodesAgain) {
  EGraph graph;
  const EClassId a = graph.add({1});
  const EClassId f = graph.add({kF, {a, a}});
  EXPECT_EQ(graph.add({1}), a);
  EXPECT_EQ(graph.add({kF, {a, a}}), f);
  EXPECT_EQ(graph.size(), 2U);
}

TEST(EGraph, ConcludesThatNodesOverEqualClassesAreEqual) {
  EGraph graph;
  const EClassId a = graph.add({1});
  const EClassId b = graph.add({2});
  const EClassId fa = graph.add({kF, {a}});
  const EClassId fb = graph.add({kF, {b}});
  const EClassId gfa = graph.add({kG, {fa}});
  const EClassId gfb = graph.add({kG, {fb}});
  EXPECT_NE(graph.find(gfa), graph.find(gfb));
  graph.merge(a, b);
  graph.rebuild();
  EXPECT_EQ(graph.find(fa), graph.find(fb));
  EXPECT_EQ(graph.find(gfa), graph.find(gfb));
  EXPECT_EQ(graph.nodes(gfa).size(), 1U);
}

// f(f(f(f(f(x))))) = x and f(f(f(x))) = x imply f(x) = x.
TEST(EGraph, DrawsConclusionsFromConclusions) {
  EGraph graph;
  const EClassId x = graph.add({1});
  std::vector<EClassId> power{x};
  for (int i = 0; i < 5; ++i) power.push_back(graph.add({kF, {power.back()}}));
  graph.merge(power[5], x);
  graph.rebuild();
  EXPECT_NE(graph.find(power[1]), graph.find(x));
  graph.merge(power[3], x);
  graph.rebuild();
  EXPECT_EQ(graph.find(power[1]), graph.find(x));
}

/// Congruence closure by brute force: all pairs, until nothing changes.
class SlowClosure {
 public:
  uint32_t add(ENode node) {
    nodes_.push_back(std::move(node));
    class_.push_back(static_cast<uint32_t>(class_.size()));
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  void merge(uint32_t a, uint32_t b) {
    const uint32_t from = class_[a];
    const uint32_t to = class_[b];
    for (uint32_t& each : class_)
      if (each == from) each = to;
  }
  void close() {
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t i = 0; i < nodes_.size(); ++i)
        for (uint32_t j = 0; j < i; ++j) {
          if (same(i, j) || !congruent(i, j)) continue;
          merge(i, j);
          changed = true;
        }
    }
  }
  bool same(uint32_t a, uint32_t b) const { return class_[a] == class_[b]; }

 private:
  bool congruent(uint32_t i, uint32_t j) const {
    if (nodes_[i].label != nodes_[j].label || nodes_[i].children.size() != nodes_[j].children.size()) return false;
    for (size_t k = 0; k < nodes_[i].children.size(); ++k)
      if (!same(nodes_[i].children[k], nodes_[j].children[k])) return false;
    return true;
  }
  std::vector<ENode> nodes_;
  std::vector<uint32_t> class_;
};

TEST(EGraph, AgreesWithTheSlowClosure) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    EGraph graph;
    SlowClosure slow;
    std::vector<EClassId> ids;
    std::vector<uint32_t> slow_ids;
    for (uint32_t i = 0; i < 30; ++i) {
      ENode node{static_cast<uint32_t>(i < 4 ? i : kF + rng.below(2))};
      ENode slow_node = node;
      const size_t arity = i < 4 ? 0 : 1 + rng.below(2);
      for (size_t k = 0; k < arity; ++k) {
        const size_t child = rng.below(i);
        node.children.push_back(ids[child]);
        slow_node.children.push_back(slow_ids[child]);
      }
      ids.push_back(graph.add(node));
      slow_ids.push_back(slow.add(slow_node));
      if (i > 4 && rng.below(4) == 0) {
        const size_t a = rng.below(i + 1);
        const size_t b = rng.below(i + 1);
        graph.merge(ids[a], ids[b]);
        slow.merge(slow_ids[a], slow_ids[b]);
      }
      if (rng.below(3) == 0) graph.rebuild();
    }
    graph.rebuild();
    slow.close();
    for (size_t i = 0; i < ids.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        ASSERT_EQ(graph.find(ids[i]) == graph.find(ids[j]), slow.same(slow_ids[i], slow_ids[j]))
            << "seed " << seed << ", nodes " << i << " and " << j;
  }
}

}  // namespace
}  // namespace isomer
