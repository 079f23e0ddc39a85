#pragma once
// The methods that AutoGraph compares.

#include "isomer/repro/contenders.h"

namespace isomer {

/// A way to find a graph and to run it.
struct LatencyMethod {
  const char* name;
  bool published;     ///< the paper has it
  const char* graph;  ///< "model.onnx", or of which search
  EngineOptions engine;
};

/// All methods; the first is the baseline.
const std::vector<LatencyMethod>& latency_methods();

struct MethodTime {
  ContenderTime time;
  std::string search;  ///< WrittenGraph::outcome; empty: the network itself is run
};

/// Searches the graphs of all methods for a network, and times all of them in turn.
Result<std::vector<MethodTime>> time_methods(const WrittenNetwork& network, const ReproOptions& options);

/// The differences that the methods make.
std::vector<Difference> method_differences();

/// Notes about the methods.
std::vector<std::string> method_notes();

}  // namespace isomer
