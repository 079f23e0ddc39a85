#include "isomer/cli/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/cli/testing.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/model_testing.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using testing::HasSubstr;

TEST(Describe, SaysWhyANodeIsOpaque) {
  const auto why = [](const std::string& op_type, const std::string& domain, const std::string& type) {
    const auto graph = parse_graph("input x: " + type + "\n z = Opaque(x) {@op_type=\"" + op_type + "\", @domain=\"" +
                                       domain + "\", @opset=11}: f32[N]\n return z",
                                   find_op);
    EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message);
    return why_opaque(*graph, graph->nodes().back());
  };
  EXPECT_THAT(why("Magic", "my.domain", "f32[N]"), HasSubstr("domain"));
  EXPECT_THAT(why("Magic", "", "f32[N]"), HasSubstr("not an operator"));
  EXPECT_THAT(why("Loop", "", "f32[N]"), HasSubstr("graphs of its own"));
  EXPECT_EQ(why("LayerNormalization", "", "f32[N]"),
            "Isomer knows LayerNormalization from opset 17 on, the model imports opset 11");
  EXPECT_THAT(why("Relu", "", "f32[?]"), HasSubstr("type of an operand"));
  EXPECT_THAT(why("Relu", "", "f32[N]"), HasSubstr("quantized"));
  EXPECT_THAT(why("Softmax", "", "f32[2,5,1]"), HasSubstr("along another axis than the last needs opset 13"));
}

TEST(Describe, SaysWhichDecisionsHaveNoEffect) {
  const auto graph = parse_graph(
      "input x: f32[1,3,4,4]\nw = f32[4,3,1,1]{seed 1}\nu = f32[4,3,1,1]{seed 2}\nv = Add(w, u)\n"
      "c = Conv(x, v) {pads=[0,0,0,0], strides=[1,1], dilations=[1,1]}\ni = Identity(c)\nr = Relu(i)\nreturn r",
      find_op);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  Decisions decisions;
  for (ValueId value = 0; value < graph->num_values(); ++value) {
    decisions.layouts.emplace(value, Layout::Blocked);
    decisions.algorithms.emplace(value, Algorithm::Winograd);
    decisions.teams.emplace(value, Team::All);
    decisions.divisions.emplace(value, Division::Axis1);
  }
  const nlohmann::json rows = decision_rows(*graph, decisions);
  const auto reason = [&](const std::string& value, const std::string& kind) {
    for (const auto& row : rows)
      if (row["value"] == value && row["kind"] == kind) return row["no_effect"];
    return nlohmann::json("no such row");
  };
  EXPECT_EQ(rows.size(), 4 * graph->num_values());
  EXPECT_EQ(reason("x", "team"), "it is an input");
  EXPECT_EQ(reason("c", "team"), nullptr);
  EXPECT_EQ(reason("x", "division"), "it is an input");
  EXPECT_EQ(reason("v", "division"), "it depends only on constants");
  EXPECT_EQ(reason("c", "division"), nullptr);
  decisions.divisions[graph->outputs()[0]] = Division::Axis0;
  EXPECT_EQ(decision_rows(*graph, decisions).back()["no_effect"], "its operator cannot be divided along this axis")
      << "axis 0 has one position";
  EXPECT_EQ(reason("x", "layout"), "it is an input");
  EXPECT_EQ(reason("w", "layout"), "it depends only on constants");
  EXPECT_EQ(reason("v", "layout"), "it depends only on constants");
  EXPECT_EQ(reason("c", "layout"), nullptr);
  EXPECT_EQ(reason("r", "layout"), nullptr);
  EXPECT_EQ(reason("c", "algorithm"), nullptr);
  EXPECT_EQ(reason("i", "algorithm"), nullptr);
  for (const char* other : {"x", "w", "v", "r"})
    EXPECT_EQ(reason(other, "algorithm"), "it is not the result of a convolution") << other;
  EXPECT_EQ(rows[0]["choice"], "blocked");
}

TEST(Describe, InspectListsTheDecisions) {
  const TempDir folder = TempDir::make().value();
  const std::string path = folder.path() / "model.onnx";
  const Model model = make_model(parse_graph("input x: f32[4]\ny = Relu(x)\nreturn y", find_op).value(), "model", 17);
  const auto inspect = [&](const std::string& decisions) {
    EXPECT_TRUE(export_model(with_metadata(model, "isomer.decisions", decisions), path).has_value());
    EXPECT_THAT(isomer_program({"inspect", path, "--json"}).report()["decisions"],
                testing::SizeIs(decisions.empty() ? 0 : 2));
    return isomer_program({"inspect", path}).out;
  };
  EXPECT_THAT(inspect(""), testing::Not(HasSubstr("decisions")));
  const std::string out = inspect(R"({"layouts": {"y": "plain"}, "algorithms": {"y": "winograd"}})");
  EXPECT_THAT(out, testing::ContainsRegex("\ny +plain layout"));
  EXPECT_THAT(out, testing::ContainsRegex("\ny +winograd algorithm +no effect: it is not the result of a convolution"));
}

TEST(Describe, DiffListsTheFunctionsThatDiffer) {
  const TempDir folder = TempDir::make().value();
  const std::string before = folder.path() / "before.onnx", after = folder.path() / "after.onnx";
  test::ProtoModel model;
  model.import("own", 1);
  model.input("x", {"2"});
  model.output("y");
  model.node("Twice", {"x"}, {"y"}, "own");
  onnx::FunctionProto* function = model.proto.add_functions();
  function->set_domain("own");
  function->set_name("Twice");
  function->add_input("a");
  function->add_output("b");
  onnx::NodeProto* node = function->add_node();
  node->set_op_type("Add");
  for (int i = 0; i < 2; ++i) node->add_input("a");
  node->add_output("b");
  ASSERT_TRUE(write_file(before, model.bytes()).has_value());
  node->set_op_type("Mul");
  function = model.proto.add_functions();
  function->set_domain("own");
  function->set_name("New");
  ASSERT_TRUE(write_file(after, model.bytes()).has_value());
  const nlohmann::json report = isomer_program({"diff", before, after, "--json"}).report();
  EXPECT_EQ(report["equal"], false);
  EXPECT_EQ(report["changed_functions"], nlohmann::json::array({"own:New", "own:Twice"}));
  EXPECT_THAT(isomer_program({"diff", before, after}).out,
              testing::StartsWith("the function 'own:New' differs\nthe function 'own:Twice' differs\n"));
  EXPECT_EQ(isomer_program({"diff", after, after, "--json"}).report()["equal"], true);
}

}  // namespace
}  // namespace isomer
