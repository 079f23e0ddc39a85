// Tests that the command line takes every option of the table, with its default.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/cli/testing.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/ops/registry.h"
#include "isomer/optimize/testing.h"

namespace isomer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class CommandLineOptions : public testing::Test {
 protected:
  void SetUp() override {
    const auto graph = parse_graph("input f: f32[N,16]\n y = Relu(f)\n return y", find_op);
    ASSERT_TRUE(export_model(make_model(graph.value(), "net", 17), model_).has_value());
    if (const char* const set = std::getenv("ISOMER_PYTHON")) python_ = set;
    ::unsetenv("ISOMER_PYTHON");
  }
  void TearDown() override {
    if (python_) ::setenv("ISOMER_PYTHON", python_->c_str(), 1);
  }

  /// Returns the options in the report of `isomer optimize` with these arguments.
  json options_of(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"optimize", model_, "-o", (folder_.path() / "out.onnx").string(), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = isomer_program(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.exit_code == 0 ? outcome.report()["options"] : json();
  }

  const TempDir folder_ = TempDir::make().value();
  std::optional<std::string> python_;  // named by the environment
  const std::string model_ = (folder_.path() / "in.onnx").string();
};

TEST_F(CommandLineOptions, HaveTheDefaultsOfTheTable) {
  const std::string database = (folder_.path() / "p.db").string();
  EXPECT_EQ(options_of({"--engine", "roofline", "--profile-db", database}),
            test::reported_options({{"engine", "roofline"}, {"profile_db", database}}));
}

TEST_F(CommandLineOptions, TakeEveryOption) {
  const json values = test::other_values(folder_.path());
  OptimizeOptions defaults;
  std::vector<std::string> arguments;
  for (const Option& option : optimize_options(defaults)) {
    if (!values.contains(option.name)) continue;
    const json& value = values[option.name];
    for (const json& each : value.is_array() ? value : json({value})) {
      arguments.push_back(option.command_line_name());
      if (!each.is_boolean()) arguments.push_back(each.is_string() ? each.get<std::string>() : each.dump());
    }
  }
  EXPECT_EQ(options_of(arguments), test::reported_options(values));
}

TEST_F(CommandLineOptions, HaveOneErrorEach) {
  OptimizeOptions defaults;
  for (const Option& option : optimize_options(defaults)) {
    const std::string name = option.command_line_name();
    const auto message = [&](const std::string& value) {
      const Outcome outcome = isomer_program({"optimize", model_, "--dry-run", fmt::format("{}={}", name, value)});
      EXPECT_EQ(outcome.exit_code, 2) << name;
      return outcome.err;
    };
    const auto* text = std::get_if<Option::Text>(&option.domain);
    if (text != nullptr && !text->values.empty()) {
      EXPECT_THAT(message("x"), HasSubstr("isomer: " + name + ": x not in"));
    } else if (option.get().is_number()) {
      EXPECT_THAT(message("x"), HasSubstr(name + ": must be " + option.takes()));
    }
  }
  EXPECT_THAT(isomer_program({"optimize", model_, "--thread", "2"}).err, HasSubstr("--thread"));
  const Outcome limit = isomer_program({"optimize", model_, "--dry-run", "--limit", "kernels"});
  EXPECT_EQ(limit.exit_code, 2);
  EXPECT_THAT(limit.err, HasSubstr("isomer: --limit: 'kernels': a limit has the form "));
  EXPECT_THAT(isomer_program({"optimize", model_, "--dry-run", "--objective", ""}).err,
              HasSubstr("isomer: --objective: ''"));
  EXPECT_THAT(isomer_program({"run", model_, "--shape", "N"}).err, HasSubstr("isomer: --shape: 'N': neither "));
}

TEST_F(CommandLineOptions, StandOnTheReferencePage) {
  const std::string path = ISOMER_SOURCE_DIR "/docs/reference/options.md";
  EXPECT_TRUE(read_file(path).value_or("") == isomer_program({"options"}).out)
      << "docs/reference/options.md is out of date; write it with: isomer options > docs/reference/options.md";
  const json table = isomer_program({"options", "--json"}).report();
  EXPECT_EQ(table["options"][0]["name"], "force");
}

TEST_F(CommandLineOptions, TakeThePythonFromTheEnvironment) {
  ASSERT_EQ(::setenv("ISOMER_PYTHON", "/nowhere/python", 1), 0);
  const json options = options_of({"--engine", "roofline"});
  const Outcome run = isomer_program({"run", model_, "--engine", "ort"});
  ::unsetenv("ISOMER_PYTHON");
  EXPECT_EQ(options["python"], "/nowhere/python");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("/nowhere/python"));
}

}  // namespace
}  // namespace isomer
