#include "isomer/repro/autograph/methods.h"

#include <map>

#include "isomer/repro/autograph/autograph.h"

namespace isomer {
namespace {

std::vector<std::pair<std::string, GraphSearch>> graph_searches() {
  return {{"sums.onnx", {.search = {.search = "backtrack"}, .costs_only = true}},
          {"autograph.onnx", {.search = {.search = "autograph"}, .streams = kStreams}},
          {"auto.onnx", {.search = {}, .streams = kStreams}}};
}

}  // namespace

const std::vector<LatencyMethod>& latency_methods() {
  static const std::vector<LatencyMethod> kAll = [] {
    const EngineOptions one{}, threads{.threads = kStreams}, staged{.streams = kStreams};
    const EngineOptions streams{.streams = kStreams, .stages = false};
    return std::vector<LatencyMethod>{{"JIT", true, "model.onnx", one},
                                      {"TASO+JIT", true, "sums.onnx", one},
                                      {"IOS", true, "model.onnx", staged},
                                      {"Nimble", true, "model.onnx", streams},
                                      {"TASO+Nimble", true, "sums.onnx", streams},
                                      {"AutoGraph", true, "autograph.onnx", staged},
                                      {"two threads", false, "model.onnx", threads},
                                      {"auto", false, "auto.onnx", staged}};
  }();
  return kAll;
}

Result<std::vector<MethodTime>> time_methods(const WrittenNetwork& network, const ReproOptions& options) {
  const auto file = [&](const std::string& name) { return network.folder.path() / name; };
  std::map<std::string, std::string> found;
  for (const auto& [name, how] : graph_searches()) {
    ISOMER_TRY(const WrittenGraph written, write_optimized(network.file, how, file(name), options));
    found[name] = written.outcome;
  }
  std::vector<Contender> contenders;
  for (const LatencyMethod& method : latency_methods())
    contenders.push_back({method.name, file(method.graph), method.engine});
  options.observer.progress("timing all methods");
  ISOMER_TRY(const auto times, timed(contenders, network.model));
  std::vector<MethodTime> out;
  for (size_t i = 0; i < times.size(); ++i) out.push_back({times[i], found[latency_methods()[i].graph]});
  return out;
}

std::vector<Difference> method_differences() {
  return {{"engine", built_in_runtime()},
          {"methods",
           "JIT: one thread. IOS: stages of kernels side by side or of kernels with all cores, by dynamic programming. "
           "Nimble: streams with one thread each. TASO: backtracking with alpha 1.05 by the sum of the kernels' costs; "
           "no graph is timed. "
           "AutoGraph: `--search autograph`. All of them are this program's, with its rules"},
          {"search", "ends after 45 s at the latest"}};
}

std::vector<std::string> method_notes() {
  return {"Not in the paper: two threads for each kernel, and the default search of `isomer optimize --streams 2`.",
          "Methods are loaded and timed in turn, five times. Intervals are those of the ratio of JIT's times to the "
          "method's.",
          "A method with the search \"none\" runs the network itself: its search found no graph that is faster than "
          "the network. Differences between two methods that run the same graph in the same way are noise.",
          "The searches of a network share the measured times of kernels, in the order TASO, AutoGraph, auto: each "
          "measures only those that the ones before did not, so it has more time for the rest."};
}

}  // namespace isomer
