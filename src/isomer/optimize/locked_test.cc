#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/models/models.h"
#include "isomer/onnx/export.h"
#include "isomer/optimize/optimize.h"

namespace isomer {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

/// Options for a benchmark network, which is written to `folder`.
OptimizeOptions network(const std::string& name, const std::filesystem::path& folder) {
  OptimizeOptions options;
  options.input = folder / (name + ".onnx");
  options.output = folder / (name + ".out.onnx");
  EXPECT_TRUE(export_model(make_model(build_model(name).value(), name, 17), options.input).has_value());
  return options;
}

TEST(Locked, CostsGiveTheSameBytesOrAnError) {
  const TempDir folder = TempDir::make().value();
  OptimizeOptions options = network("bert-8", folder.path());
  options.costs.engine = "onednn";
  options.costs.profile_db = folder.path() / "p.db";
  options.search = {.search = "greedy", .time_budget_seconds = 1e6};
  options.costs_only = true;
  options.min_speedup = 1;
  const auto measured = optimize(options);
  ASSERT_TRUE(measured.has_value()) << measured.error().message;
  EXPECT_GT(measured->kernels_measured, 0);
  EXPECT_FALSE(measured->measured.has_value()) << "no complete graph is timed";
  // Whether the search finds a cheaper graph depends on the processor. Where it does, the costs decide on that graph.
  EXPECT_THAT(measured->outcome, AnyOf(HasSubstr("by the costs of kernels"), HasSubstr("candidates is better")));
  const bool found = measured->outcome.find("by the costs of kernels") != std::string::npos;
  EXPECT_EQ(measured->equivalence.has_value(), found) << "outputs are compared nevertheless";
  const std::string bytes = read_file(options.output).value();
  const std::string database = read_file(options.costs.profile_db).value();
  options.costs_only = false;
  options.costs.locked = true;
  for (int run = 0; run < 2; ++run) {
    const auto locked = optimize(options);
    ASSERT_TRUE(locked.has_value()) << locked.error().message;
    EXPECT_EQ(locked->kernels_measured, 0);
    EXPECT_EQ(locked->outcome, measured->outcome);
    EXPECT_TRUE(read_file(options.output).value() == bytes) << "run " << run;
    EXPECT_TRUE(read_file(options.costs.profile_db).value() == database) << "run " << run;
  }
  // On any machine, however slow: either the same bytes, or an error.
  options.progress = [](const std::string&) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
  for (const double budget : {1e6, 0.05}) {
    options.search.time_budget_seconds = budget;
    std::filesystem::remove(options.output);
    const auto slow = optimize(options);
    if (budget > 1) {
      ASSERT_TRUE(slow.has_value()) << slow.error().message;
      EXPECT_TRUE(read_file(options.output).value() == bytes);
    } else {
      ASSERT_FALSE(slow.has_value()) << slow->outcome;
      EXPECT_THAT(slow.error().message, HasSubstr("the time budget of 0.05 s does not suffice"));
      EXPECT_FALSE(std::filesystem::exists(options.output));
    }
  }
  OptimizeOptions other = network("sru-11", folder.path());
  other.costs = options.costs;
  EXPECT_THAT(optimize(other).error().message, HasSubstr("p.db: lacks the cost of MatMul"));
  EXPECT_FALSE(std::filesystem::exists(other.output));
  other.costs.engine = "ort";
  EXPECT_THAT(optimize(other).error().message, HasSubstr("has no kernels of ort "));
}

}  // namespace
}  // namespace isomer
