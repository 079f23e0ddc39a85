#pragma once
// Ways to run a network, which are timed in turn.

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "isomer/base/stats.h"
#include "isomer/base/temp_dir.h"
#include "isomer/engine/engine.h"
#include "isomer/onnx/model.h"
#include "isomer/repro/experiment.h"
#include "isomer/search/options.h"
#include "isomer/search/report.h"

namespace isomer {

/// A network in a folder of its own, where its graphs and measurements go too.
struct WrittenNetwork {
  TempDir folder;
  Model model;
  std::filesystem::path file;
};

/// Builds a benchmark network and writes it. Adds its hash to the result.
Result<WrittenNetwork> written_network(const std::string& name, int batch, ExperimentResult& out);
/// Likewise a training step of it, by SGD with momentum.
Result<WrittenNetwork> written_training(const std::string& name, int batch, ExperimentResult& out);

/// A graph for a network, and how it is run.
struct Contender {
  std::string name;
  std::filesystem::path file = {};
  EngineOptions engine = {};
  /// If set, this loads and runs it, and returns the microseconds of the runs; else the built-in runtime does.
  std::function<Result<std::vector<double>>(const TimingOptions&)> run = {};
};

struct ContenderTime {
  double median_us = 0;
  Interval speedup = {};  ///< over the first contender
};

/// How contenders are timed: how often they are loaded, and each time that they are loaded.
struct ContenderTiming {
  int loads = 5;
  TimingOptions each = {.min_runs = 20, .seconds = 0.6};
};

/// Loads and times all contenders in turn, several times. They have the inputs of `model`.
Result<std::vector<ContenderTime>> timed(std::span<const Contender> contenders, const Model& model,
                                         const ContenderTiming& timing = {});

/// How a graph is searched for.
struct GraphSearch {
  SearchOptions search = {};
  int streams = 1;
  bool costs_only = false;  ///< no graph is timed
  double max_seconds = 45;  ///< the time budget, unless the user gives less
};

struct WrittenGraph {
  /// A cell of a table: the number of steps, or "none" if the result is the model itself; and ", cut off (REASON)" if a
  /// limit ended the search.
  std::string outcome;
  std::vector<MeasuredGraph> measured;  ///< by the search
};

/// Optimizes a model for the built-in runtime and writes the result. Times of kernels are stored with the model, so
/// later searches for it do not measure them again.
Result<WrittenGraph> write_optimized(const std::filesystem::path& model, const GraphSearch& how,
                                     const std::filesystem::path& output, const ReproOptions& options);

/// A cell of a table: "[0.98, 1.12]".
std::string interval_text(const Interval& interval);

}  // namespace isomer
