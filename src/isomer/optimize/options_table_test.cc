// Tests that each option of the table is read, checked and reported.

#include "isomer/optimize/options_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "isomer/optimize/options_page.h"
#include "isomer/optimize/read_options.h"
#include "isomer/optimize/testing.h"

namespace isomer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Returns the Error of reading options; empty if there is none.
std::string problem(const json& given) {
  OptimizeOptions options;
  const Status read = read_options(given.dump(), options);
  return read ? "" : read.error().message;
}

TEST(OptionsTable, NamesDifferAndDefaultsAreValues) {
  OptimizeOptions options;
  std::set<std::string> names, on_the_command_line;
  const auto table = optimize_options(options);
  for (const Option& option : table) {
    names.insert(option.name);
    on_the_command_line.insert(option.command_line_name());
    EXPECT_TRUE(option.check(option.get()).has_value()) << option.name;
    EXPECT_FALSE(option.help.empty() || option.help.ends_with('.')) << option.name;
  }
  EXPECT_EQ(names.size(), table.size());
  EXPECT_EQ(on_the_command_line.size(), table.size());
}

TEST(OptionsTable, ReadsEachOptionIntoItsOwnPlace) {
  OptimizeOptions defaults;
  const auto before = optimize_options(defaults);
  for (const Option& changed : before) {
    const json value = test::other_value(changed, "/folder");
    OptimizeOptions options;
    const Status read = read_options(json{{changed.name, value}}.dump(), options);
    ASSERT_TRUE(read.has_value()) << changed.name << ": " << read.error().message;
    const auto after = optimize_options(options);
    for (size_t i = 0; i < after.size(); ++i) {
      const std::string& name = after[i].name;
      if (changed.name == "memory_limit" && name == "limits") {
        EXPECT_EQ(after[i].get(), json({"peak_bytes <= 1000000000"}));
      } else if (changed.name == name && name != "memory_limit") {
        EXPECT_EQ(after[i].get(), value) << name;
        EXPECT_NE(before[i].get(), value) << name;
      } else {
        EXPECT_EQ(after[i].get(), before[i].get()) << changed.name << " changes " << name;
      }
    }
  }
}

TEST(OptionsTable, LimitsStayWhenTheObjectiveComesLater) {
  OptimizeOptions options;
  ASSERT_TRUE(read_options(R"({"memory_limit": 8, "limits": ["kernels <= 2"]})", options));
  ASSERT_TRUE(read_options(R"({"objective": "flops"})", options));
  EXPECT_EQ(options.objective.text(), "flops");
  EXPECT_EQ(options.objective.limits(), (std::vector<std::string>{"kernels <= 2", "peak_bytes <= 8"}));
}

TEST(OptionsTable, RefusesValuesOfAnotherKindOrOutOfRange) {
  OptimizeOptions options;
  for (const Option& option : optimize_options(options)) {
    const std::string message = fmt::format("options: {}: must be {}", option.name, option.takes());
    const bool text =
        std::holds_alternative<Option::Text>(option.domain) || std::holds_alternative<Option::File>(option.domain);
    EXPECT_EQ(problem({{option.name, text ? json(1) : json("1")}}), message);
    EXPECT_EQ(problem({{option.name, json::object()}}), message);
    EXPECT_EQ(problem({{option.name, nullptr}}), option.get().is_null() ? "" : message);
    if (const auto* range = std::get_if<IntegerRange>(&option.domain)) {
      EXPECT_EQ(problem({{option.name, range->min}}), "");
      EXPECT_EQ(problem({{option.name, range->min - 1}}), message);
      EXPECT_EQ(problem({{option.name, 1.5}}), message);
    }
    if (const auto* range = std::get_if<NumberRange>(&option.domain)) {
      EXPECT_EQ(problem({{option.name, range->min}}), range->open ? message : "");
      EXPECT_EQ(problem({{option.name, range->min - 1}}), message);
    }
    if (const auto* words = std::get_if<Option::Text>(&option.domain)) {
      for (const std::string& value : words->values) EXPECT_EQ(problem({{option.name, value}}), "");
    }
  }
  EXPECT_THAT(problem({{"engine", "tpu"}}), HasSubstr("engine: must be ort, openvino, onednn or roofline"));
  EXPECT_THAT(problem({{"thread", 1}}), HasSubstr("no option 'thread'; there are: force, dry_run, engine, threads, "));
}

TEST(OptionsTable, IsDescribedForPrograms) {
  OptimizeOptions options;
  const auto table = optimize_options(options);
  const json described = described_options();
  ASSERT_EQ(described.size(), table.size());
  for (size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(described[i]["name"], table[i].name);
    EXPECT_EQ(described[i]["default"], table[i].get());
    EXPECT_EQ(described[i]["command_line"], table[i].command_line_name());
    EXPECT_THAT(options_page(), HasSubstr(fmt::format("| `{}` | `{}` | {} | ", table[i].command_line_name(),
                                                      table[i].name, table[i].takes())));
  }
}

}  // namespace
}  // namespace isomer
