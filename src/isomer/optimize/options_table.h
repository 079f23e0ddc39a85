#pragma once
// All options of `optimize`. The command line, C, Python, the report and docs/reference/options.md take their names,
// values, defaults and help from here. Other commands take the options that they share with it.

#include <filesystem>
#include <vector>

#include "isomer/engine/inputs.h"
#include "isomer/optimize/optimize.h"
#include "isomer/optimize/option.h"

namespace isomer {

// The value of an option stays in what it is made of, which must outlive it. Its default is the value found there.

Option profile_db_option(std::filesystem::path& path);
Option shapes_option(ShapeOptions& shapes);
Option seed_option(uint64_t& seed);
/// How an engine computes.
std::vector<Option> engine_options(EngineOptions& options);
/// Which of `engines` gives the costs, and how.
std::vector<Option> cost_options(CostOptions& options, std::vector<std::string> engines);
/// Everything, in the order of --help.
std::vector<Option> optimize_options(OptimizeOptions& options);

/// The options by name, as a report shows them. Values that are kept in several parts are shown in these parts.
nlohmann::json options_json(const OptimizeOptions& options);

/// Seconds: thirty years, which a clock can still count.
inline constexpr NumberRange kTimeBudget{.least = 0, .most = 1e9};

}  // namespace isomer
