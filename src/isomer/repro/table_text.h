#pragma once
// Results of experiments as text, CSV and JSON.

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "isomer/repro/experiment.h"

namespace isomer {

/// A finished experiment.
struct ReproRun {
  const ReproItem* item;  ///< not nullptr
  std::string command;    ///< that repeats it
  ExperimentResult result;
};

/// The title, the table, the differences, the notes, and the command and hashes that identify the run.
std::string text_of(const ReproRun& run);

/// The rows of all runs. The first column has the id of the item. The last ones have the setting, and the command and
/// hashes that identify the run. A column that an item lacks is blank in its rows.
std::string csv_of(std::span<const ReproRun> runs);

/// The run as a JSON object. Rows are objects whose keys are the names of the columns, with the unit in parentheses.
nlohmann::json json_of(const ReproRun& run);

}  // namespace isomer
