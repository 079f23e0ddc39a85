#include "isomer/egraph/explore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

Graph parsed_graph(const std::string& text) {
  auto parsed = parse_graph(text, find_op);
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
  return parsed ? *parsed : Graph();
}

/// A graph that is explored with some rules.
class Explored {
 public:
  Explored(const std::string& rules, const std::string& graph, const ExploreLimits& limits = {}) {
    auto parsed = parse_rules(rules);
    EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
    for (Direction& direction : directions_of(*parsed))
      if (direction.forward) directions_.push_back(std::move(direction));
    root_ = *terms_.add(parsed_graph(graph));
    exploration_ = std::make_unique<Exploration>(terms_, directions_, limits);
    stopped_by_ = exploration_->run();
  }

  const std::string& stopped_by() const { return stopped_by_; }
  size_t nodes() const { return terms_.egraph().size(); }
  const Exploration& exploration() const { return *exploration_; }
  /// Returns whether this graph, over the same inputs, became known as equal.
  bool has(const std::string& graph) {
    const size_t before = terms_.egraph().size();
    const EClassId other = *terms_.add(parsed_graph(graph));
    return terms_.egraph().size() == before && terms_.find(other) == terms_.find(root_);
  }
  std::map<std::string, int> applied() const {
    std::map<std::string, int> out;
    for (const TermApplication& one : exploration_->applications()) ++out[one.direction->rule.name];
    return out;
  }

 private:
  std::vector<Direction> directions_;
  TermGraph terms_;
  std::unique_ptr<Exploration> exploration_;
  EClassId root_ = 0;
  std::string stopped_by_;
};

const std::string kTwice = "rule twice (Add ?x ?x) => (Mul ?x 2.0) where real(?x)\n";
const std::string kAssociateAdd =
    "rule left (Add ?x (Add ?y ?z)) => (Add (Add ?x ?y) ?z)\nrule right (Add (Add ?x ?y) ?z) => (Add ?x (Add ?y ?z))\n";

std::string sum_of(int terms) {
  std::string text;
  for (int i = 0; i < terms; ++i) text += fmt::format("input x{}: f64[2]\n", i);
  for (int i = 1; i < terms; ++i)
    text += fmt::format("s{} = Add({}, x{})\n", i, i == 1 ? "x0" : fmt::format("s{}", i - 1), i);
  return text + fmt::format("return s{}", terms - 1);
}

TEST(Explore, EndsWhenNothingNewFollows) {
  Explored explored(kTwice, "input x: f64[2]\ny = Add(x, x)\nreturn y");
  EXPECT_EQ(explored.stopped_by(), "exhausted");
  EXPECT_TRUE(explored.has("input x: f64[2]\nc = f64[]{2}\ny = Mul(x, c)\nreturn y"));
  EXPECT_EQ(explored.exploration().applications().size(), 1U);
  EXPECT_EQ(explored.exploration().matches(), 3) << "it matches in every iteration, also in the last one";
}

TEST(Explore, FindsAllOrdersOfASum) {
  Explored explored(kAssociateAdd, sum_of(4));
  EXPECT_EQ(explored.stopped_by(), "exhausted");
  EXPECT_TRUE(
      explored.has("input x0: f64[2]\ninput x1: f64[2]\ninput x2: f64[2]\ninput x3: f64[2]\n"
                   "a = Add(x0, x3)\nb = Add(x1, x2)\ny = Add(a, b)\nreturn y"));
}

TEST(Explore, RecordsApplicationsThatJoinNothingNew) {
  // `right` leads back to the first term.
  const Explored explored(kAssociateAdd, sum_of(3));
  EXPECT_GT(explored.applied().at("left"), 0);
  EXPECT_GT(explored.applied().at("right"), 0);
}

TEST(Explore, LimitsAreReasonsToStop) {
  const std::string sum = sum_of(9);
  EXPECT_EQ(Explored(kAssociateAdd, sum, {.nodes = 50}).stopped_by(), "node limit");
  EXPECT_EQ(Explored(kAssociateAdd, sum, {.iterations = 1}).stopped_by(), "iteration limit");
  EXPECT_EQ(Explored(kAssociateAdd, sum, {.bytes = 10'000}).stopped_by(), "memory");
  EXPECT_EQ(Explored(kAssociateAdd, sum, {.end = Deadline::after(0)}).stopped_by(), "time budget");
  EXPECT_EQ(Explored(kAssociateAdd, sum, {.end = Deadline::after(1e6, [] { return true; })}).stopped_by(),
            "interrupted");
}

TEST(Explore, EndsWhileARuleIsMatched) {
  // There are hundreds of millions of triples, none of which satisfies the condition.
  const std::string triples =
      "rule triples (Add ?a ?b), (Add ?c ?d), (Add ?e ?f) => (Add ?b ?a), (Add ?d ?c), (Add ?f ?e) where rank(?a) == "
      "7\n";
  std::string text = "input x: f64[2]\n";
  std::string outputs;
  for (int i = 0; i < 500; ++i) {
    text += fmt::format("input y{}: f64[2]\nz{} = Add(x, y{})\n", i, i, i);
    outputs += fmt::format("{}z{}", i == 0 ? "" : ", ", i);
  }
  int looks = 0;
  const Deadline end = Deadline::after(1e6, [&] { return ++looks > 100; });
  const ExploreLimits limits{.nodes = 10'000, .max_matches = 100'000'000, .end = end};
  EXPECT_EQ(Explored(triples, text + "return " + outputs, limits).stopped_by(), "interrupted");
}

TEST(Explore, ARuleThatExplodesIsBannedForAWhile) {
  // With few matches per iteration, the sum cannot keep the other rule from being applied.
  const std::string graph = sum_of(8) + ", t";
  std::string text = graph;
  text.replace(text.find("return"), 0, "t = Add(x0, x0)\n");
  const Explored explored(kAssociateAdd + kTwice, text, {.nodes = 100'000, .iterations = 3, .max_matches = 4});
  EXPECT_EQ(explored.stopped_by(), "iteration limit");
  EXPECT_EQ(explored.applied().at("twice"), 1);
  EXPECT_FALSE(explored.applied().contains("right")) << "six places are too many for the first iterations";
  // Its next limit is larger.
  const Explored longer(kAssociateAdd + kTwice, text, {.nodes = 100'000, .iterations = 12, .max_matches = 4});
  EXPECT_GT(longer.applied().at("right"), 0);
}

TEST(Explore, DoesNotMatchWeights) {
  const Explored explored(kTwice, "input x: f64[2]\nc = f64[2]{seed 1}\nd = Add(c, c)\ny = Mul(x, d)\nreturn y");
  EXPECT_EQ(explored.stopped_by(), "exhausted");
  EXPECT_TRUE(explored.applied().empty());
}

const std::string kMergeTwo =
    "rule merge (MatMul ?x ?a), (MatMul ?x ?b)\n"
    "=> (Split axis=1 split=[dim(?a, 1), dim(?b, 1)] (MatMul ?x (Concat axis=1 ?a ?b)))\n"
    "where ?a != ?b and rank(?x) == 2 and rank(?a) == 2 and rank(?b) == 2 and dim(?a, 0) == dim(?b, 0)\n";
const std::string kMergeAll =
    "rule merge (MatMul ?x @w)... => (Split axis=1 split=dims(@w, 1) (MatMul ?x (Concat axis=1 @w)))\n"
    "where len(@w) >= 2 and weight(@w) and rank(@w) == 2 and alike(@w, 1) and rank(?x) == 2\n";
const std::string kProducts =
    "input x: f64[2,3]\na = f64[3,4]{seed 1}\nb = f64[3,5]{seed 2}\nu = MatMul(x, a)\nv = MatMul(x, b)\nreturn u, v";
const std::string kMerged =
    "input x: f64[2,3]\na = f64[3,4]{seed 1}\nb = f64[3,5]{seed 2}\nw = Concat(a, b) {axis=1}\nm = MatMul(x, w)\n"
    "u, v = Split(m) {axis=1, split=[4,5]}\nreturn u, v";

TEST(Explore, MergesProductsThatShareAnInput) {
  Explored all(kMergeAll, kProducts);
  EXPECT_TRUE(all.has(kMerged));
  EXPECT_EQ(all.stopped_by(), "sibling limit") << "not all groups of siblings are tried";
  EXPECT_EQ(all.applied().at("merge"), 1) << "a merged product is not a sibling of the products that it replaces";
  Explored two(kMergeTwo, kProducts);
  EXPECT_TRUE(two.has(kMerged));
  EXPECT_EQ(two.stopped_by(), "sibling limit") << "both orders give a product, and these are siblings";
}

TEST(Explore, GroupsOfSiblingsAreTheLargestOnes) {
  std::string text = "input x: f64[2,3]\n";
  std::string outputs;
  for (int i = 0; i < 6; ++i) {
    text += fmt::format("w{} = f64[3,{}]{{seed {}}}\ny{} = MatMul(x, w{})\n", i, i + 1, i + 1, i, i);
    outputs += fmt::format("{}y{}", i == 0 ? "" : ", ", i);
  }
  const Explored explored(kMergeAll, text + "return " + outputs, {.iterations = 1});
  EXPECT_EQ(explored.applied().at("merge"), 5) << "one group for each but the last of them";
}

TEST(Explore, SiblingsAreMergedInFewRounds) {
  std::string text = "input x: f64[2,3]\n";
  std::string outputs;
  for (int i = 0; i < 4; ++i) {
    text += fmt::format("w{} = f64[3,4]{{seed {}}}\ny{} = MatMul(x, w{})\n", i, i + 1, i, i);
    outputs += fmt::format("{}y{}", i == 0 ? "" : ", ", i);
  }
  const Explored explored(kMergeTwo, text + "return " + outputs, {.nodes = 100'000, .sibling_rounds = 1});
  EXPECT_EQ(explored.stopped_by(), "sibling limit");
}

TEST(Explore, SameInputSameGraph) {
  const auto run = [] {
    const Explored explored(kAssociateAdd + kTwice, sum_of(7), {.nodes = 300});
    return std::tuple(explored.stopped_by(), explored.nodes(), explored.applied());
  };
  EXPECT_EQ(run(), run());
}

TEST(BackOff, BansLongerEachTime) {
  BackOff back_off(2, 10, 3);
  EXPECT_EQ(back_off.max_matches(0), 10U);
  back_off.ban(0, 0);
  EXPECT_EQ(back_off.max_matches(0), 20U);
  for (const size_t iteration : {1, 2, 3}) EXPECT_TRUE(back_off.banned(0, iteration)) << iteration;
  EXPECT_FALSE(back_off.banned(0, 4));
  EXPECT_FALSE(back_off.banned(1, 1));
  back_off.ban(0, 4);
  EXPECT_TRUE(back_off.banned(0, 10));
  EXPECT_FALSE(back_off.banned(0, 11));
}

TEST(BackOff, ReleasesTheRuleThatWouldBeFreeFirst) {
  BackOff back_off(3, 10, 3);
  EXPECT_FALSE(back_off.release(0));
  back_off.ban(0, 0);
  back_off.ban(1, 1);
  EXPECT_TRUE(back_off.release(1));
  EXPECT_FALSE(back_off.banned(0, 2));
  EXPECT_TRUE(back_off.banned(1, 2));
  EXPECT_TRUE(back_off.release(2));
  EXPECT_FALSE(back_off.release(2));
  back_off.ban(2, 2);
  EXPECT_TRUE(back_off.release(5)) << "its ban ends only after this iteration";
}

}  // namespace
}  // namespace isomer
