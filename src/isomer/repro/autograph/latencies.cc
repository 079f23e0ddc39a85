// Table 2: latency of networks by method.

#include "isomer/repro/autograph/autograph.h"
#include "isomer/repro/autograph/contenders.h"

namespace isomer {
namespace {

/// Milliseconds of the paper; 0: none.
struct PublishedLatencies {
  const char* network;
  double jit, taso_jit, ios, nimble, taso_nimble, autograph;
};
constexpr PublishedLatencies kPublished[] = {{"inception-v3", 8.839, 7.819, 3.788, 3.174, 2.928, 2.799},
                                             {"resnet50", 4.566, 4.554, 3.284, 2.144, 1.988, 1.905},
                                             {"resnext50", 7.540, 7.369, 3.056, 7.708, 5.933, 2.892},
                                             {"nasnet-a", 13.891, 10.843, 9.583, 6.483, 13.086, 5.850},
                                             {"nasnet-mobile", 10.155, 8.085, 3.821, 2.320, 6.540, 1.883},
                                             {"rnntc", 1.496, 1.307, 0, 0.486, 0.387, 0.387},
                                             {"bert-8", 11.011, 9.026, 0, 6.923, 6.473, 6.240}};

struct LatencyMethod {
  const char* name;
  double PublishedLatencies::*published;  ///< nullptr: not in the paper
  const char* graph;                      ///< "model.onnx", or of which search
  EngineOptions engine;
};

std::vector<LatencyMethod> methods() {
  using Published = PublishedLatencies;
  const EngineOptions one{}, threads{.threads = kStreams}, staged{.streams = kStreams};
  const EngineOptions streams{.streams = kStreams, .stages = false};
  return {{"JIT", &Published::jit, "model.onnx", one},
          {"TASO+JIT", &Published::taso_jit, "sums.onnx", one},
          {"IOS", &Published::ios, "model.onnx", staged},
          {"Nimble", &Published::nimble, "model.onnx", streams},
          {"TASO+Nimble", &Published::taso_nimble, "sums.onnx", streams},
          {"AutoGraph", &Published::autograph, "autograph.onnx", staged},
          {"two threads", nullptr, "model.onnx", threads},
          {"auto", nullptr, "auto.onnx", staged}};
}

std::vector<std::pair<std::string, GraphSearch>> graph_searches() {
  return {{"sums.onnx", {.search = {.search = "backtrack"}, .costs_only = true}},
          {"autograph.onnx", {.search = {.search = "autograph"}, .streams = kStreams}},
          {"auto.onnx", {.search = {}, .streams = kStreams}}};
}

Status run_network(const PublishedLatencies& published, const ReproOptions& options, ExperimentResult& out) {
  ISOMER_TRY(const WrittenNetwork network, written_network(published.network, out));
  const auto file = [&](const std::string& name) { return network.folder.path() / name; };
  std::map<std::string, std::string> found;
  for (const auto& [name, how] : graph_searches()) {
    ISOMER_TRY(const WrittenGraph written, write_optimized(network.file, how, file(name), options));
    found[name] = written.outcome;
  }
  std::vector<Contender> contenders;
  for (const LatencyMethod& method : methods()) contenders.push_back({method.name, file(method.graph), method.engine});
  options.observer.progress(fmt::format("timing {}", published.network));
  ISOMER_TRY(const auto times, timed(contenders, network.model));
  for (size_t i = 0; i < contenders.size(); ++i) {
    const LatencyMethod method = methods()[i];
    const double ms = method.published == nullptr ? 0 : published.*method.published;
    const auto or_null = [&](double number) { return ms > 0 ? nlohmann::json(number) : nlohmann::json(); };
    const Interval& ratio = times[i].speedup;
    out.row({published.network, method.name, or_null(ms), or_null(published.jit / ms), 1e-3 * times[i].median_us,
             ratio.value, fmt::format("[{:.2f}, {:.2f}]", ratio.low, ratio.high), found[method.graph]});
  }
  return {};
}

Result<ExperimentResult> run_latencies(const ReproOptions& options) {
  ExperimentResult out{
      .columns = {{"network"},
                  {"method"},
                  {"published", "ms", 3},
                  {"published over JIT", "x"},
                  {"measured", "ms", 3},
                  {"over JIT", "x"},
                  {"95% interval"},
                  {"search"}},
      .differences = {
          {"engine", built_in_runtime()},
          {"methods",
           "JIT: one thread. IOS: stages of kernels side by side or of kernels with all cores, by dynamic programming. "
           "Nimble: streams with one thread each. TASO: backtracking with alpha 1.05 by the sum of the kernels' costs; "
           "no graph is timed. "
           "AutoGraph: `--search autograph`. All of them are this program's, with its rules"},
          {"search", "ends after 45 s at the latest"}}};
  for (const PublishedLatencies& published : kPublished)
    if (options.includes(published.network)) ISOMER_CHECK(run_network(published, options, out));
  out.notes = {
      "Not in the paper: two threads for each kernel, and the default search of `isomer optimize --streams 2`.",
      "Methods are loaded and timed in turn, five times. Intervals are those of the ratio of JIT's times to the "
      "method's.",
      "A method with the search \"none\" runs the network itself: its search found no graph that is faster than the "
      "network. Differences between two methods that run the same graph in the same way are noise.",
      "The paper's RNNTC-SRU has other sizes than rnntc, and its figures have no intervals."};
  out.notes.emplace_back(
      "The searches of a network share the measured times of kernels, in the order TASO, AutoGraph, auto: each "
      "measures only those that the ones before did not, so it has more time for the rest.");
  return out;
}

}  // namespace

Experiment autograph_latencies() { return {run_latencies, networks_of(kPublished)}; }

}  // namespace isomer
