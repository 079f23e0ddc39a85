#pragma once
// The experiments of the papers: what each of them takes and returns.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "isomer/base/observer.h"
#include "isomer/base/result.h"
#include "isomer/repro/picture.h"

namespace isomer {

/// What a user can set about a run.
struct ReproOptions {
  std::vector<std::string> networks = {};    ///< only these; empty: all of the experiment
  double time_budget_seconds = 600;          ///< of each search; it is a safety net, and marked where it ended one
  int64_t search_memory = int64_t{1} << 30;  ///< bytes that a search which stores all graphs may use
  std::string torch = {};                    ///< a Python with torch and onnx; empty: no run of PyTorch
  Observer observer = {};

  /// Returns whether the run includes a network.
  bool includes(const std::string& network) const;
};

struct ResultColumn {
  std::string name;
  std::string unit = {};
  int decimals = 2;  ///< of numbers that are not integers
};

/// Cells are numbers, texts, or null where there is nothing to say.
struct ResultRow {
  std::vector<nlohmann::json> cells;
  std::vector<std::string> differs = {};  ///< names of differences; empty: the setting is the published one
};

/// How the setting of an experiment differs from the published one: "engine" is "the roofline of a V100, not the GPU".
struct Difference {
  std::string name;
  std::string text;
};

struct ExperimentResult {
  std::vector<ResultColumn> columns;
  std::vector<ResultRow> rows = {};
  std::vector<Difference> differences = {};
  std::map<std::string, std::string> hashes = {};  ///< of rule files and networks
  std::vector<std::string> notes = {};             ///< sentences
  std::vector<Picture> pictures = {};

  /// Adds a row with all differences.
  void row(std::vector<nlohmann::json> cells);
};

/// An experiment of a paper.
struct Experiment {
  /// Runs it. An Error if a network cannot be built or a search fails.
  Result<ExperimentResult> (*run)(const ReproOptions& options) = nullptr;
  std::vector<std::string> networks = {};  ///< what ReproOptions::networks can choose from; empty: there is no choice
  bool with_torch = false;                 ///< uses ReproOptions::torch
};

/// The names of networks of which a paper has figures, in a list of structs with a `network`.
template <class Figures>
std::vector<std::string> networks_of(const Figures& figures) {
  std::vector<std::string> names;
  for (const auto& one : figures) names.emplace_back(one.network);
  return names;
}

/// A table or figure of a paper.
struct ReproItem {
  std::string id;  ///< "metaflow-t3"
  std::string title;
  Experiment experiment = {};
  std::string why_not = {};  ///< the reason, if it is not reproduced
  bool plotted = false;      ///< the result has pictures

  bool reproduced() const { return experiment.run != nullptr; }
};

}  // namespace isomer
