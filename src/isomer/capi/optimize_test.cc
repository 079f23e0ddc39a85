// The C interface of the optimizer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/capi/isomer.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/ops/registry.h"
#include "isomer/optimize/testing.h"

namespace isomer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// f c + (1 - f) z, which the rule factor-gate rewrites to z + f (c - z).
constexpr const char* kGate =
    "input f: f32[N,16]\n input c: f32[N,16]\n input z: f32[N,16]\n one = f32[] {1}\n"
    " a = Mul(f, c)\n g = Sub(one, f)\n b = Mul(g, z)\n y = Add(a, b)\n return y";

class COptimize : public testing::Test {
 protected:
  void SetUp() override {
    auto graph = parse_graph(kGate, find_op);
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    ASSERT_TRUE(export_model(make_model(std::move(*graph), "gate", 17), in_).has_value());
  }
  void TearDown() override { isomer_free_text(report_); }

  int optimize(const char* options) {
    isomer_free_text(report_);
    return isomer_optimize(in_.c_str(), out_.c_str(), options, &report_, &error_);
  }

  TempDir folder_ = TempDir::make().value();
  const std::string in_ = (folder_.path() / "in.onnx").string();
  const std::string out_ = (folder_.path() / "out.onnx").string();
  char* report_ = nullptr;
  isomer_error error_ = {};
};

TEST_F(COptimize, WritesTheModelAndItsReport) {
  ASSERT_EQ(optimize(R"({"engine": "roofline", "shapes": ["N=4"], "seed": 3})"), ISOMER_OK) << error_.message;
  const json report = json::parse(report_);
  EXPECT_TRUE(report["improved"]);
  EXPECT_EQ(report["steps"][0]["rule"], "factor-gate");
  EXPECT_EQ(report["options"]["seed"], 3);
  EXPECT_EQ(report["options"]["symbols"]["N"], 4);
  const auto model = import_model(out_);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_LT(model->graph.nodes().size(), 8);
}

TEST_F(COptimize, TakesEveryOption) {
  const json values = test::other_values(folder_.path());
  ASSERT_EQ(optimize(values.dump().c_str()), ISOMER_OK) << error_.message;
  EXPECT_EQ(json::parse(report_)["options"], test::reported_options(values));
}

TEST_F(COptimize, HasTheDefaultsOfTheTableButForTheEngine) {
  ASSERT_EQ(optimize(R"({"engine": "roofline"})"), ISOMER_OK) << error_.message;
  EXPECT_EQ(json::parse(report_)["options"], test::reported_options({{"engine", "roofline"}}));
  ASSERT_EQ(optimize(R"({"search": "greedy", "time_budget": 0, "shapes": ["N=1"]})"), ISOMER_OK) << error_.message;
  EXPECT_EQ(json::parse(report_)["options"]["engine"], "onednn");
}

TEST_F(COptimize, ADryRunNeedsNoOutput) {
  const char* const options = R"({"engine": "roofline", "dry_run": true})";
  ASSERT_EQ(isomer_optimize(in_.c_str(), nullptr, options, &report_, &error_), ISOMER_OK) << error_.message;
  EXPECT_FALSE(std::ifstream(out_).good()) << "a dry run writes nothing";
}

TEST_F(COptimize, BadOptionsAreRefused) {
  const auto refused = [&](const char* options, const char* why) {
    EXPECT_EQ(optimize(options), ISOMER_BAD_ARGUMENT) << options;
    EXPECT_THAT(error_.message, HasSubstr(why)) << options;
    EXPECT_EQ(report_, nullptr);
  };
  refused("", "not a JSON object");
  refused("{", "not a JSON object");
  refused("[]", "not a JSON object");
  refused(R"({"thread": 1})", "no option 'thread'; there are: force, dry_run, ");
  refused(R"({"threads": 0})", "threads: must be an integer from 1 to 1024");
  refused(R"({"threads": 1.5})", "threads: must be an integer");
  refused(R"({"threads": "2"})", "threads: must be an integer");
  refused(R"({"seed": 18446744073709551615})", "seed: must be an integer");
  refused(R"({"alpha": 0.5})", "alpha: must be a finite number of at least 1");
  refused(R"({"alpha": NaN})", "not a JSON object: ");
  refused(R"({"alpha": NaN})", R"(last read: '"alpha": N)");
  refused(R"({"tolerance": -Infinity})", "not a JSON object: ");
  refused(R"({"tolerance": 1e999})", "1e999");
  refused(R"({"tolerance": -1})", "tolerance: must be a finite number of at least 0");
  refused(R"({"time_budget": 1e10})", "time_budget: must be a number from 0 to 1e+09");
  refused(R"({"seed": -1})", "seed: must be an integer from 0 to ");
  refused(R"({"objective": "1/0"})", "objective: '1/0': has no finite value");
  refused(R"({"limits": ["memory <= 0/0"]})", "limits: ");
  refused(R"({"alpha": null})", "alpha: must be a finite number");
  refused(R"({"engine": 3})", "engine: must be ort, openvino, onednn or roofline");
  refused(R"({"engine": "tpu"})", "engine: must be ort, openvino, onednn or roofline");
  refused(R"({"python": 3})", "python: must be a string");
  refused(R"({"dtype": "f64"})", "dtype: must be f32 or bf16");
  refused(R"({"force": 1})", "force: must be true or false");
  refused(R"({"shapes": "N=1"})", "shapes: must be a list of strings");
  refused(R"({"shapes": ["N"]})", "shapes: 'N': neither");
  refused(R"({"skip_rules": [1]})", "skip_rules: must be a list of strings");
  refused(R"({"objective": "latency_us +"})", "objective: ");
  refused(R"({"limits": ["kernels"]})", "limits: ");
}

TEST_F(COptimize, WhatCannotBeDoneIsExplained) {
  EXPECT_EQ(optimize(R"({"engine": "roofline", "skip_rules": ["no-such-rule"]})"), ISOMER_FAILED);
  EXPECT_THAT(error_.message, HasSubstr("no-such-rule"));
  const char* const options = R"({"engine": "roofline"})";
  EXPECT_EQ(isomer_optimize("/nowhere/in.onnx", out_.c_str(), options, &report_, &error_), ISOMER_FAILED);
  EXPECT_THAT(error_.message, HasSubstr("/nowhere/in.onnx"));
  EXPECT_EQ(isomer_optimize(in_.c_str(), in_.c_str(), options, &report_, &error_), ISOMER_FAILED);
  EXPECT_THAT(error_.message, HasSubstr("in.onnx")) << "the input is kept";
  EXPECT_EQ(isomer_optimize(in_.c_str(), "/nowhere/out.onnx", options, nullptr, nullptr), ISOMER_FAILED);
}

TEST_F(COptimize, NullsAreRefused) {
  EXPECT_EQ(isomer_optimize(nullptr, out_.c_str(), nullptr, &report_, &error_), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(error_.message, "input is NULL");
  EXPECT_EQ(isomer_optimize(in_.c_str(), nullptr, nullptr, &report_, &error_), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(error_.message, "output is NULL");
  isomer_free_text(nullptr);
}

TEST_F(COptimize, NeedsNoReport) {
  EXPECT_EQ(isomer_optimize(in_.c_str(), out_.c_str(), R"({"engine": "roofline"})", nullptr, nullptr), ISOMER_OK);
}

}  // namespace
}  // namespace isomer
