#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/cli/testing.h"
#include "isomer/ir/builder.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/model_testing.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using testing::HasSubstr;

/// The number of characters that a terminal interprets.
int64_t control(const std::string& text) {
  return std::ranges::count_if(text, [](unsigned char c) { return (c < 0x20 && c != '\n') || c >= 0x7F; });
}

TEST(PrintableNames, OfTensorsAreWhatCommandsShow) {
  const TempDir temporary = TempDir::make().value();
  const auto model = [&](const std::string& name, Graph graph) {
    const std::string path = temporary.path() / (name + ".onnx");
    EXPECT_TRUE(export_model(make_model(std::move(graph), name, 17), path).has_value());
    return path;
  };
  const std::string plain =
      model("plain",
            parse_graph("input x: f32[N,8]\n w = f32[8,4]{seed 1}\n y = MatMul(x, w)\n z = Relu(y)\n return z", find_op)
                .value());
  const std::string hostile("a\x1b[2J\n\0\xff\0", 9);
  GraphBuilder builder;
  const ValueId x = builder.input({DType::Float, {Dim::symbol("N"), 2}});
  builder.name(x, "x" + hostile);
  const ValueId y = *builder.add(op("Relu"), {}, {x});
  builder.name(y, "y" + hostile);
  const std::vector<ValueId> outputs = {y};
  const std::string path = model("hostile", builder.finish(outputs)), dot = temporary.path() / "hostile.dot";
  const std::vector<std::vector<std::string>> commands = {{"inspect", path, "--dot", dot},
                                                          {"diff", path, plain},
                                                          {"diff", plain, path},
                                                          {"run", path, "--engine", "reference"},
                                                          {"run", path, "--engine", "onednn"},
                                                          {"run", path, "--shape", "nosuch:2,2"},
                                                          {"compare", plain, path, "--engine", "reference"}};
  for (const auto& arguments : commands) {
    const Outcome outcome = isomer_program(arguments);
    const std::string said = outcome.out + outcome.err;
    EXPECT_EQ(control(said), 0) << testing::PrintToString(said);
    EXPECT_THAT(said, HasSubstr("a\\x1b[2J\\n\\x00\\xff"));
  }
  EXPECT_EQ(control(read_file(dot).value()), 0);
  // JSON has its own escapes.
  EXPECT_THAT(isomer_program({"inspect", path, "--json"}).out, HasSubstr("xa\\u001b[2J\\n\\u0000"));
}

/// y = op(x * 1), where nothing knows `op`.
TEST(PrintableNames, OfOperatorsAndDomainsAreWhatCommandsShow) {
  const TempDir temporary = TempDir::make().value();
  const auto path = [&](const char* name) { return (temporary.path() / name).string(); };
  const std::string domain = "evil\x1b[2J", op = "Foo\x1b[32m\n";
  test::ProtoModel model;
  model.import(domain, 1);
  model.input("x\x1b[31m", {"1", "8"});
  model.output("y\x1b[31m", {"1", "8"});
  model.floats("one\x1b", {1}, {1});
  model.node("Mul", {"x\x1b[31m", "one\x1b"}, {"scaled\x1b"})->set_name("mul\x1b");
  model.node(op, {"scaled\x1b"}, {"y\x1b[31m"}, domain);
  ASSERT_TRUE(write_file(path("in"), model.bytes()).has_value());
  const std::vector<std::vector<std::string>> commands = {
      {"optimize", path("in"), "-o", path("out"), "--engine", "roofline", "--certificate", path("cert")},
      {"verify", path("cert"), path("in"), path("out")},
      {"inspect", path("in"), "--dot", path("dot")},
      {"diff", path("in"), path("out")},
      {"explain", path("in")},
      {"run", path("in")},
      {"bench", path("in")},
      {"bench", path("in"), "--engine", "onednn"},
      {"compare", path("in"), path("out")},
      {"optimize", path("in"), "--dry-run", "--engine", "ort"}};
  for (const auto& arguments : commands) {
    const Outcome outcome = isomer_program(arguments);
    EXPECT_EQ(control(outcome.out + outcome.err), 0)
        << arguments[0] << testing::PrintToString(outcome.out + outcome.err);
    EXPECT_FALSE(outcome.out.empty() && outcome.err.empty()) << arguments[0];
  }
  EXPECT_EQ(control(read_file(path("dot")).value()), 0);
}

}  // namespace
}  // namespace isomer
