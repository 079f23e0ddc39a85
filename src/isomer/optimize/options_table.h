#pragma once
// Declares all options of `optimize`. The command line, C, Python, the report and docs/reference/options.md take names,
// values, defaults and help from here. Other commands share some of these options.

#include <filesystem>
#include <string>
#include <vector>

#include "isomer/cost/costs.h"
#include "isomer/engine/inputs.h"
#include "isomer/optimize/option.h"
#include "isomer/search/options.h"

namespace isomer {

struct OptimizeOptions;

// An option refers to the variable that holds its value, which must outlive it. The variable's value is the default.

Option profile_db_option(std::filesystem::path& path);
Option shapes_option(ShapeOptions& shapes);
Option seed_option(uint64_t& seed);
/// The seconds that something may take, which `help` names.
Option time_budget_option(double& seconds, const std::string& help);
Option search_memory_option(int64_t& bytes);
/// Options of how an engine computes.
std::vector<Option> engine_options(EngineOptions& options);
/// Options of costs: which engine they are for, and how they are determined.
std::vector<Option> cost_options(CostOptions& options);
/// Options of the search.
std::vector<Option> search_options(SearchOptions& options);
/// All options, in the order of --help.
std::vector<Option> optimize_options(OptimizeOptions& options);

/// The options by name, as a report shows them. Values that are kept in several parts are shown in these parts.
nlohmann::json options_json(const OptimizeOptions& options);

/// Seconds. The maximum of thirty years is what a clock can count without overflow.
inline constexpr NumberRange kTimeBudget{.min = 0, .max = 1e9};

}  // namespace isomer
