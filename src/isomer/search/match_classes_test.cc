#include "isomer/search/match_classes.h"

#include "isomer/search/testing.h"

namespace isomer {
namespace {

// Two equal convolutions, one with a different weight, and one with different strides.
constexpr std::string_view kConvolutions = R"(
  input x: f32[1,8,6,6]
  w1 = f32[8,4,1,1]{seed 1}
  w2 = f32[8,4,1,1]{seed 2}
  w3 = f32[4,4,1,1]{seed 3}
  a = Conv(x, w1) {group=2, strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
  b = Conv(a, w2) {group=2, strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
  c = Conv(b, w3) {group=2, strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
  d = Conv(b, w2) {group=2, strides=[2,2], dilations=[1,1], pads=[0,0,0,0]}
  return c, d)";

std::vector<size_t> sizes(const std::vector<std::vector<Match>>& classes) {
  std::vector<size_t> out;
  out.reserve(classes.size());
  for (const auto& matches : classes) out.push_back(matches.size());
  return out;
}

TEST(MatchClasses, GoByTypesAttributesAndParameters) {
  const Graph graph = parsed(kConvolutions);
  const auto rules = rules_of(
      "rule a (Conv group=?g ..c ?x ?w) => (Conv group=?g ..c ?x ?w)\n"
      "rule b (Conv group=?g ..c ?x ?w) choose ?r in [1, 2] => (Conv group=?g ..c ?x ?w)");
  const auto plain = find_matches(graph, OpIndex(graph), rules[0]);
  EXPECT_EQ(sizes(classes_of(graph, plain)), (std::vector<size_t>{2, 1, 1}));
  EXPECT_EQ(sizes(settings_of(plain)), (std::vector<size_t>{4}));
  const auto chosen = find_matches(graph, OpIndex(graph), rules[1]);
  EXPECT_EQ(sizes(classes_of(graph, chosen)), (std::vector<size_t>{2, 2, 1, 1, 1, 1}));
  const auto settings = settings_of(chosen);
  EXPECT_EQ(sizes(settings), (std::vector<size_t>{4, 4}));
  EXPECT_EQ(parameters_of(settings[0][0]), "r=1 ");
  EXPECT_EQ(parameters_of(settings[1][3]), "r=2 ");
}

}  // namespace
}  // namespace isomer
