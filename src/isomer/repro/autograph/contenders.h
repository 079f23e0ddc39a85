#pragma once
// Ways to run a network on the built-in runtime, which are timed in turn.

#include <filesystem>
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

/// The number of streams of the experiments.
inline constexpr int kStreams = 2;

/// A network in a folder of its own, where its graphs and measurements go too.
struct WrittenNetwork {
  TempDir folder;
  Model model;
  std::filesystem::path file;
};

/// Builds a benchmark network and writes it. Adds its hash to the result.
Result<WrittenNetwork> written_network(const std::string& name, ExperimentResult& out);

/// A graph for a network, and how it is run.
struct Contender {
  std::string name;
  std::filesystem::path file;
  EngineOptions engine = {};
};

struct ContenderTime {
  double median_us = 0;
  Interval speedup = {};  ///< over the first contender
};

/// Loads and times all contenders in turn, several times. They have the inputs of `model`.
Result<std::vector<ContenderTime>> timed(std::span<const Contender> contenders, const Model& model);

/// How a graph is searched for.
struct GraphSearch {
  SearchOptions search = {};
  int streams = 1;
  bool costs_only = false;  ///< no graph is timed
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

/// Returns the difference "engine" of these experiments.
std::string built_in_runtime();

}  // namespace isomer
