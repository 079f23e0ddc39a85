#include <gtest/gtest.h>

#include "isomer/ir/builder.h"
#include "isomer/plan/candidate.h"

namespace isomer {
namespace {

Graph two_inputs() {
  GraphBuilder builder;
  const ValueId a = builder.input({DType::Float, Shape{Dim(2)}});
  const ValueId b = builder.input({DType::Float, Shape{Dim(3)}});
  return builder.finish(std::vector{a, b});
}

TEST(Decisions, AreEmptyUnlessSomethingIsDecided) {
  Decisions decisions;
  EXPECT_TRUE(decisions.empty());
  EXPECT_FALSE(decisions.layout(0).has_value());
  decisions.layouts[1] = Layout::Plain;
  EXPECT_FALSE(decisions.empty());
  EXPECT_EQ(decisions.layout(1), Layout::Plain);
  EXPECT_FALSE(decisions.algorithm(1).has_value());
}

TEST(Decisions, HaveNamesThatAreReadAgain) {
  for (const Layout layout : {Layout::Plain, Layout::Blocked}) EXPECT_EQ(layout_from_name(layout_name(layout)), layout);
  for (const Algorithm algorithm : {Algorithm::Direct, Algorithm::Winograd})
    EXPECT_EQ(algorithm_from_name(algorithm_name(algorithm)), algorithm);
  for (const Computation computation : {Computation::Once, Computation::Twice})
    EXPECT_EQ(computation_from_name(computation_name(computation)), computation);
  for (const Team team : {Team::One, Team::All}) EXPECT_EQ(team_from_name(team_name(team)), team);
  for (const Division division : {Division::Axis0, Division::Axis1, Division::Axis2, Division::Axis3})
    EXPECT_EQ(division_from_name(division_name(division)), division);
  for (const char* other : {"", "Plain", "winograd ", "fast"}) {
    EXPECT_FALSE(computation_from_name(other).has_value()) << other;
    EXPECT_FALSE(team_from_name(other).has_value()) << other;
    EXPECT_FALSE(division_from_name(other).has_value()) << other;
    EXPECT_FALSE(layout_from_name(other).has_value()) << other;
    EXPECT_FALSE(algorithm_from_name(other).has_value()) << other;
  }
}

TEST(Decisions, AreCarriedToCorrespondingValues) {
  const Graph graph = two_inputs();
  const Decisions decisions{.layouts = {{0, Layout::Blocked}, {1, Layout::Plain}},
                            .algorithms = {{1, Algorithm::Winograd}},
                            .computations = {{1, Computation::Twice}},
                            .teams = {{0, Team::All}},
                            .divisions = {{1, Division::Axis2}}};
  const std::vector<uint64_t> exchanged = {graph.value_hash(1), graph.value_hash(0)};
  EXPECT_EQ(carried(decisions, exchanged, graph).decisions,
            (Decisions{.layouts = {{1, Layout::Blocked}, {0, Layout::Plain}},
                       .algorithms = {{0, Algorithm::Winograd}},
                       .computations = {{0, Computation::Twice}},
                       .teams = {{1, Team::All}},
                       .divisions = {{0, Division::Axis2}}}));
  const std::vector<uint64_t> first_is_gone = {7, graph.value_hash(1)};
  EXPECT_EQ(carried(decisions, first_is_gone, graph).decisions, (Decisions{.layouts = {{1, Layout::Plain}},
                                                                           .algorithms = {{1, Algorithm::Winograd}},
                                                                           .computations = {{1, Computation::Twice}},
                                                                           .divisions = {{1, Division::Axis2}}}));
}

}  // namespace
}  // namespace isomer
