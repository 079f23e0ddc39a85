#include "isomer/cli/inspect_costs.h"

#include <gmock/gmock.h>

#include "isomer/base/file.h"
#include "isomer/base/processor.h"
#include "isomer/base/temp_dir.h"
#include "isomer/cli/testing.h"
#include "isomer/onnx/export.h"
#include "isomer/ops/graph_testing.h"

namespace isomer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(InspectCosts, ComparesKernelsWithThePeak) {
  const TempDir folder = TempDir::make().value();
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string model = file("model.onnx"), plot = file("plot.svg");
  const Graph graph = parsed("input x: f32[10,8]\n w = f32[8,4]{seed 1}\n y = MatMul(x, w)\n z = Relu(y)\n return z");
  ASSERT_TRUE(export_model(make_model(graph, "model", 17), model).has_value());
  const Outcome outcome = isomer_program({"inspect", model, "--engine", "onednn", "--costs", "--roofline", plot,
                                          "--profile-db", file("profile.db"), "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json costs = outcome.report()["costs"];
  double flops = 0;
  for (const json& kernel : costs["by_kernel"]) {
    flops += kernel["flops"].get<double>();
    EXPECT_GT(kernel["of_peak"], 0) << kernel;
  }
  EXPECT_EQ(flops, costs["flops"]);
  EXPECT_GT(flops, 0);
  EXPECT_GT(costs["peak"]["flops_per_second"], 0);
  EXPECT_TRUE(costs["peak"]["levels"].back()["bytes"].is_null()) << "memory";
  EXPECT_THAT(read_file(plot).value(), HasSubstr("<svg"));
  const Outcome alone = isomer_program({"inspect", model, "--roofline", plot});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr("--costs"));
}

TEST(InspectCosts, PredictsARunOnStreams) {
  if (available_cores() < 2) return;
  const TempDir folder = TempDir::make().value();
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string model = file("model.onnx");
  const Graph graph = parsed(
      "input x: f32[N,256]\n w = f32[256,256]{seed 1}\n v = f32[256,256]{seed 2}\n a = MatMul(x, w)\n b = MatMul(x, "
      "v)\n"
      " y = Mul(a, b)\n return y");
  ASSERT_TRUE(export_model(make_model(graph, "model", 17), model).has_value());
  const std::vector<std::string> command = {"inspect",         model, "--engine", "onednn", "--costs",
                                            "--streams",       "2",   "--shape",  "N=64",   "--profile-db",
                                            file("profile.db")};
  auto with_json = command;
  with_json.emplace_back("--json");
  const Outcome outcome = isomer_program(with_json);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json costs = outcome.report()["costs"];
  EXPECT_GT(costs["on_streams"]["predicted_us"], 0);
  EXPECT_LT(costs["on_streams"]["predicted_us"], 3 * costs["latency_us"].get<double>());
  EXPECT_LE(costs["on_streams"]["with_all_threads"], costs["kernels"]);
  for (const json& row : costs["on_streams"]["slowdown"])
    for (const json& slowdown : row) EXPECT_GE(slowdown, 1);
  const Outcome text = isomer_program(command);
  EXPECT_THAT(text.out, HasSubstr("on the streams: "));
  EXPECT_THAT(text.out, HasSubstr("; 0 measured now"));
  auto one = command;
  one[6] = "1";
  EXPECT_EQ(isomer_program(one).out.find("on the streams"), std::string::npos);
}

}  // namespace
}  // namespace isomer
