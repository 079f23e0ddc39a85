// Tests that nothing is asked of an engine that it cannot do: rules make no graphs that it refuses, and layouts are
// chosen only for one that obeys.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "isomer/base/temp_dir.h"
#include "isomer/engine/engine.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/ops/registry.h"
#include "isomer/optimize/optimize.h"
#include "isomer/optimize/rule_set.h"
#include "isomer/rules/rewrite.h"

namespace isomer {
namespace {

/// Returns whether ONNX Runtime loads a graph; otherwise the reason.
Status loads(const Graph& graph) {
  ISOMER_TRY(const TempDir folder, TempDir::make());
  const auto file = folder.path() / "model.onnx";
  ISOMER_CHECK(export_model(make_model(graph, "model", 17), file));
  ISOMER_TRY(const auto engine, make_engine("ort"));
  ISOMER_TRY(const SessionId session, engine->load(file));
  return engine->unload(session);
}

Graph graph_of(const std::string& text) { return parse_graph(text, find_op).value(); }

/// Applies a built-in rule as often as possible.
Graph exhausted(Graph graph, const std::string& name) {
  const RuleSet all = usable_rules("", {}).value();
  const auto rule = std::ranges::find(all.rules, name, &Rule::name);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Match& match : find_matches(graph, OpIndex(graph), *rule)) {
      auto rewritten = apply_match(graph, match);
      if (!rewritten) continue;
      graph = std::move(*rewritten);
      changed = true;
      break;
    }
  }
  return graph;
}

int64_t count(const Graph& graph, const std::string& op) {
  return std::ranges::count_if(graph.nodes(), [&](const Node& node) { return node.op->name == op; });
}

// ONNX Runtime requires pads smaller than the window at both ends of every axis. Convolutions do not.
TEST(EngineLimits, NoPoolIsMadeWhosePadsAreAsWideAsItsWindow) {
  const Status refused = loads(graph_of(
      "input x: f32[1,2,4,4]\n"
      "y = AveragePool(x) {kernel_shape=[1,1], strides=[1,1], dilations=[1,1], pads=[1,1,1,1], count_include_pad=1}\n"
      "return y"));
  ASSERT_FALSE(refused.has_value()) << "the rule may have its condition on pads dropped";

  const Graph convolutions = graph_of(R"(
    input x: f32[1,2,4,4]
    v = f32[2,1,1,1]{fill 0.5}
    w = f32[2,1,2,2]{fill 0.25}
    a = Conv(x, v) {strides=[1,1], dilations=[1,1], pads=[1,1,1,1], group=2}
    b = Conv(a, w) {strides=[1,1], dilations=[1,1], pads=[0,0,0,2], group=2}
    c = Conv(b, w) {strides=[1,1], dilations=[1,1], pads=[1,1,0,1], group=2}
    return c
  )");
  const Graph pools = exhausted(convolutions, "uniform-convolution-as-average-pool");
  EXPECT_EQ(count(pools, "Conv"), 2) << print_graph(pools);
  EXPECT_EQ(count(pools, "AveragePool"), 1) << print_graph(pools);
  const Status loaded = loads(pools);
  EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().message);
}

TEST(EngineLimits, LayoutsAreNotChosenForAnEngineThatDoesNotObey) {
  const TempDir folder = TempDir::make().value();
  OptimizeOptions options;
  options.input = folder.path() / "model.onnx";
  options.dry_run = true;
  options.costs.engine = "ort";
  options.search.layout = "joint";
  const Graph graph = graph_of("input x: f32[4]\ny = Relu(x)\nreturn y");
  ASSERT_TRUE(export_model(make_model(graph, "model", 17), options.input).has_value());
  const auto report = optimize(options);
  ASSERT_FALSE(report.has_value());
  EXPECT_THAT(report.error().message, testing::HasSubstr("--layout joint: engine 'ort' chooses layouts by itself"));
}

}  // namespace
}  // namespace isomer
