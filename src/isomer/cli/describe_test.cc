#include "isomer/cli/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/ir/text.h"
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

}  // namespace
}  // namespace isomer
