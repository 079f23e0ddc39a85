// Tests inputs with defaults: every command runs a model with the defaults unless other values are given, and none
// treats them as constants.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/cli/testing.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/onnx/model_testing.h"
#include "isomer/onnx/npy.h"
#include "isomer/onnx/testing.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using testing::HasSubstr;

/// y = (x * 1) / (w * 3), where the default of w is 4. A random w is not 4, and often negative or close to 0.
constexpr const char* kScaled =
    "input x: f32[N,2]\n input w: f32[2]\n one = f32[1]{1}\n three = f32[1]{3}\n xs = Mul(x, one)\n ws = Mul(w, "
    "three)\n"
    " y = Div(xs, ws)\n return y";

class Defaults : public testing::Test {
 protected:
  void SetUp() override {
    auto graph = parse_graph(kScaled, find_op);
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    const Model model = test::with_default(make_model(std::move(*graph), "m", 17), 1, Tensor::floats({2}, {4, 4}));
    ASSERT_TRUE(export_model(model, path("m.onnx")).has_value());
    ASSERT_TRUE(write_npy(path("x.npy"), Tensor::floats({1, 2}, {12, 24})).has_value());
    ASSERT_TRUE(write_npy(path("w.npy"), Tensor::floats({2}, {1, 2})).has_value());
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  /// Returns the output of a model for x = [12, 24] and further arguments.
  Tensor run(const std::string& model, const std::string& engine, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"run",     path(model),          "--engine",     engine,
                                          "--input", "x=" + path("x.npy"), "--output-dir", path("out")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = isomer_program(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return read_npy(path("out/y.npy")).value();
  }

  const TempDir folder_ = TempDir::make().value();
};

TEST_F(Defaults, RunTakesThemUnlessAnInputIsGiven) {
  for (const std::string engine : {"ort", "onednn", "reference"}) {
    EXPECT_EQ(run("m.onnx", engine), Tensor::floats({1, 2}, {1, 2})) << engine;
    EXPECT_EQ(run("m.onnx", engine, {"--input", "w=" + path("w.npy")}), Tensor::floats({1, 2}, {4, 4})) << engine;
  }
}

/// ONNX Runtime runs this model only if the shape is one of x.
TEST_F(Defaults, BenchMeasuresWithThem) {
  test::ProtoModel model;
  model.input("x", {"2", "3"});
  test::ProtoModel::describe(model.graph().add_input(), "shape", {"2"}, onnx::TensorProto::INT64);
  model.output("y", {"A", "B"});
  model.ints("shape", {3, 2});
  model.node("Reshape", {"x", "shape"}, {"y"});
  ASSERT_TRUE(write_file(path("reshape.onnx"), model.bytes()).has_value());
  const Outcome outcome = isomer_program({"bench", path("reshape.onnx"), "--runs", "10"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  model.graph().clear_initializer();
  ASSERT_TRUE(write_file(path("reshape.onnx"), model.bytes()).has_value());
  EXPECT_EQ(isomer_program({"bench", path("reshape.onnx"), "--runs", "10"}).exit_code, 2) << "random values";
}

TEST_F(Defaults, CompareSeesThem) {
  const Model model = import_model(path("m.onnx")).value();
  const Model other = test::with_default(model, 1, Tensor::floats({2}, {4, 5}));
  ASSERT_TRUE(export_model(other, path("other.onnx")).has_value());
  EXPECT_EQ(isomer_program({"compare", path("m.onnx"), path("m.onnx")}).exit_code, 0);
  EXPECT_EQ(isomer_program({"compare", path("m.onnx"), path("other.onnx")}).exit_code, 1);
}

TEST_F(Defaults, DiffShowsWhichDiffer) {
  const Model model = import_model(path("m.onnx")).value();
  ASSERT_TRUE(export_model(test::with_default(model, 1, Tensor::floats({2}, {4, 5})), path("other.onnx")).has_value());
  EXPECT_THAT(isomer_program({"diff", path("m.onnx"), path("m.onnx")}).out, HasSubstr("the same computation"));
  const std::string differs = isomer_program({"diff", path("m.onnx"), path("other.onnx")}).out;
  EXPECT_THAT(differs, HasSubstr("the default of input 'w' differs"));
  EXPECT_THAT(differs, testing::Not(HasSubstr("the same computation")));
}

TEST_F(Defaults, CompareTakesTheSameModelWithAConstantInstead) {
  auto graph = parse_graph(
      "input x: f32[N,2]\n w = f32[2]{4,4}\n three = f32[1]{3}\n ws = Mul(w, three)\n y = Div(x, ws)\n return y",
      find_op);
  ASSERT_TRUE(export_model(make_model(std::move(*graph), "c", 17), path("constant.onnx")).has_value());
  const Outcome same = isomer_program({"compare", path("m.onnx"), path("constant.onnx")});
  EXPECT_EQ(same.exit_code, 0) << same.err << same.out;
  EXPECT_EQ(isomer_program({"compare", path("constant.onnx"), path("m.onnx")}).exit_code, 0);
  const Outcome named = isomer_program({"compare", path("m.onnx"), path("constant.onnx"), "--shape", "w:1"});
  EXPECT_EQ(named.exit_code, 2);
}

TEST_F(Defaults, InspectShowsThem) {
  EXPECT_THAT(isomer_program({"inspect", path("m.onnx")}).out, HasSubstr("has a default"));
  const auto inputs = isomer_program({"inspect", path("m.onnx"), "--json"}).report()["inputs"];
  EXPECT_EQ(inputs[0]["has_default"], false);
  EXPECT_EQ(inputs[1]["has_default"], true);
}

TEST_F(Defaults, OptimizeKeepsThemAndDoesNotTakeThemForConstants) {
  const Outcome done = isomer_program({"optimize", path("m.onnx"), "-o", path("faster.onnx"), "--engine", "roofline",
                                       "--certificate", path("m.cert"), "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.report()["improved"], true) << "the product with 1 goes";
  for (const std::string engine : {"ort", "onednn", "reference"}) {
    EXPECT_EQ(run("faster.onnx", engine), Tensor::floats({1, 2}, {1, 2})) << engine;
    EXPECT_EQ(run("faster.onnx", engine, {"--input", "w=" + path("w.npy")}), Tensor::floats({1, 2}, {4, 4})) << engine;
  }
  const Outcome verified = isomer_program({"verify", path("m.cert"), path("m.onnx"), path("faster.onnx"), "--json"});
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  EXPECT_EQ(verified.report()["difference"]["max_abs"], 0.0);
}

/// log(w) is NaN for a negative w: if w were random, outputs could not be compared.
TEST_F(Defaults, OptimizeMeasuresWithThem) {
  auto graph = parse_graph(
      "input x: f32[64,64]\n input w: f32[64]\n one = f32[1]{1}\n xs = Mul(x, one)\n ws = Log(w)\n y = Add(xs, ws)\n"
      " return y",
      find_op);
  Tensor ones = Tensor::zeros(DType::Float, {64});
  std::ranges::fill(ones.mutable_data<float>(), 1.0F);
  ASSERT_TRUE(export_model(test::with_default(make_model(std::move(*graph), "m", 17), 1, ones), path("log.onnx")));
  for (const std::string engine : {"ort", "onednn"}) {
    const Outcome done = isomer_program({"optimize", path("log.onnx"), "-o", path(engine + ".onnx"), "--engine", engine,
                                         "--time-budget", "2", "--profile-db", path("db"), "--json"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(done.report()["outcome"].get<std::string>().find("dropped"), std::string::npos) << done.out;
  }
}

}  // namespace
}  // namespace isomer
