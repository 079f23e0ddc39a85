#pragma once
// For tests of interfaces: a value for each option that differs from its default.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "isomer/optimize/options_table.h"
#include "isomer/optimize/read_options.h"

namespace isomer::test {

/// Returns a value that is not the default. With these values, the roofline model optimizes any model with an input f
/// of [N,16].
inline nlohmann::json other_value(const Option& option, const std::filesystem::path& folder) {
  const std::map<std::string, nlohmann::json> others = {
      {"engine", "roofline"},
      {"dtype", "bf16"},
      {"python", "python3"},
      {"provider", "CPUExecutionProvider"},
      {"profile_db", (folder / "p.db").string()},
      {"objective", "kernels"},
      {"limits", {"kernels <= 1e9"}},
      {"memory_limit", 1e9},
      {"tolerance", 1e-3},
      {"time_budget", 90},
      {"search", "beam"},
      {"layout", "joint"},
      {"extract", "greedy"},
      {"rules", ISOMER_SOURCE_DIR "/rulesets/written.rules"},
      {"skip_rules", {"factor-gate", "square"}},
      {"certificate", (folder / "m.cert").string()},
      {"shapes", {"f:2,16"}},
  };
  if (const auto at = others.find(option.name); at != others.end()) return at->second;
  const nlohmann::json value = option.get();
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>() + 1;
  EXPECT_TRUE(value.is_number_float()) << "a value for --" << option.name << " is missing here";
  return value.get<double>() * 2;
}

/// Returns other values for all options except dry_run, which excludes certificates.
inline nlohmann::json other_values(const std::filesystem::path& folder) {
  OptimizeOptions defaults;
  nlohmann::json values;
  for (const Option& option : optimize_options(defaults))
    if (option.name != "dry_run") values[option.name] = other_value(option, folder);
  return values;
}

/// Returns the options in the report of a run with these values.
inline nlohmann::json reported_options(const nlohmann::json& values) {
  OptimizeOptions options;
  const Status read = read_options(values.dump(), options);
  EXPECT_TRUE(read.has_value()) << read.error().message;
  return options_json(options);
}

}  // namespace isomer::test
