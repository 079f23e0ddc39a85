// Figures 4 and 5: how do the algorithms grow with the network and with the maximum length?

#include <algorithm>
#include <map>

#include "isomer/repro/ocggs/ocggs.h"

namespace isomer {
namespace {

/// A series of runs: the points of one plot.
struct GrowthSeries {
  std::string title;
  ChartAxis axis;
  struct Point {
    std::string network;
    int64_t length;
    double x;
  };
  std::vector<Point> points = {};
  /// The maximum x for which an exact algorithm is run, as in the paper: "Enumeration", "Pruning", "DPP". Others are
  /// not run there because they would take days.
  std::map<std::string, double> exact_up_to;
  // What the text of the paper prints, by x and algorithm or by algorithm.
  std::map<std::pair<double, std::string>, double> over_enumeration = {};   ///< times as fast as enumeration
  std::map<std::pair<double, std::string>, std::string> over_pruning = {};  ///< times as fast as Pruning
  std::map<std::string, std::string> sampling_over = {};  ///< how many times as fast as the algorithm Sampling is
  std::map<std::string, std::string> over_sampling = {};  ///< the cost as a multiple of Sampling's
};

using Seconds = std::map<std::string, double>;  // of the algorithms that were not cut off

/// Shorter times are mostly noise.
constexpr double kShortestSeconds = 0.02;

/// How many times as fast as another algorithm, if both were not cut off and took long enough to tell.
nlohmann::json speedup(const Seconds& seconds, const std::string& of, const std::string& over) {
  const auto measured = [&](const std::string& name) {
    return seconds.contains(name) && seconds.at(name) >= kShortestSeconds;
  };
  if (of == over || !measured(of) || !measured(over)) return {};
  return seconds.at(over) / seconds.at(of);
}

template <class Map>
nlohmann::json known(const Map& map, const typename Map::key_type& key) {
  const auto at = map.find(key);
  return at == map.end() ? nlohmann::json() : nlohmann::json(at->second);
}

Seconds seconds_of(const std::vector<OcggsRun>& runs) {
  Seconds seconds;
  for (const auto& [algorithm, found] : runs)
    if (!found.cut_off()) seconds[algorithm.name] = found.cpu_seconds;
  return seconds;
}

class GrowthRun {
 public:
  GrowthRun(const EmbeddedRules& rules, const ReproOptions& options) : rules_(rules), options_(options) {
    out_ = {.columns = {{"network"},
                        {"K"},
                        {"algorithm"},
                        {"before", "us", 1},
                        {"cost", "us", 1},
                        {"published cost / Sampling's"},
                        {"cost / Sampling's", "", 3},
                        {"ours", "CPU s", 3},
                        {"graphs"},
                        {"published over enumeration", "x"},
                        {"over enumeration", "x"},
                        {"published over Pruning", "x"},
                        {"over Pruning", "x"},
                        {"published Sampling over it", "x"},
                        {"Sampling over it", "x"},
                        {"ended"}},
            .differences = ocggs_differences(rules),
            .hashes = rules.digests};
  }

  Status run(const GrowthSeries& series) {
    Chart costs{.title = series.title + ": predicted latency", .x = series.axis, .y = {"latency", "us"}};
    Chart times{.title = series.title + ": search time", .x = series.axis, .y = {"processor time", "s", true}};
    for (const GrowthSeries::Point& point : series.points) ISOMER_CHECK(run_point(series, point, costs, times));
    if (costs.series.empty()) return {};
    out_.pictures.emplace_back(std::move(costs));
    out_.pictures.emplace_back(std::move(times));
    return {};
  }

  ExperimentResult result() {
    note_unimproved(unimproved_, out_);
    return std::move(out_);
  }

 private:
  Status run_point(const GrowthSeries& series, const GrowthSeries::Point& point, Chart& costs, Chart& times) {
    if (!options_.includes(point.network)) return {};
    ISOMER_TRY(const StartNetwork network, start_network(point.network));
    out_.hashes[point.network] = network.hash();
    const auto chosen = [&](const OcggsAlgorithm& algorithm) {
      return !algorithm.exact || point.x <= series.exact_up_to.at(algorithm.name);
    };
    ISOMER_TRY(const std::vector<OcggsRun> runs, run_ocggs(network, rules_, point.length, chosen, options_));
    for (const OcggsRun& run : runs) {
      add_row(series, point, run, runs);
      const auto cost = run.cost();
      if (!cost) continue;
      add_point(costs, run.algorithm.name, {point.x, *cost, run.found.cut_off()});
      add_point(times, run.algorithm.name, {point.x, run.found.cpu_seconds, run.found.cut_off()});
    }
    const auto improved = [](const OcggsRun& run) { return run.found.improved(); };
    if (std::ranges::none_of(runs, improved) && std::ranges::find(unimproved_, point.network) == unimproved_.end())
      unimproved_.push_back(point.network);
    return {};
  }

  /// Adds one of the runs of a point. The last of them is Sampling.
  void add_row(const GrowthSeries& series, const GrowthSeries::Point& point, const OcggsRun& run,
               const std::vector<OcggsRun>& runs) {
    const std::string name = run.algorithm.name;
    const Seconds seconds = seconds_of(runs);
    out_.row({point.network, point.length, name, run.found.before.latency_us, json_of(run.cost()),
              known(series.over_sampling, name), over_sampling(run.cost(), runs.back().found.after.latency_us),
              run.found.cpu_seconds, run.found.report.candidates, known(series.over_enumeration, {point.x, name}),
              speedup(seconds, name, "Enumeration"), known(series.over_pruning, {point.x, name}),
              speedup(seconds, name, "Pruning"), known(series.sampling_over, name), speedup(seconds, "Sampling", name),
              run.found.ended()});
  }

  static void add_point(Chart& chart, const std::string& name, const ChartPoint& point) {
    for (ChartSeries& series : chart.series)
      if (series.name == name) return series.points.push_back(point);
    chart.series.push_back({name, {point}});
  }

  const EmbeddedRules& rules_;
  const ReproOptions& options_;
  ExperimentResult out_;
  std::vector<std::string> unimproved_;
};

Result<ExperimentResult> run_growth(const std::vector<GrowthSeries>& all, const ReproOptions& options) {
  ISOMER_TRY(const EmbeddedRules rules, single_step_rules());
  GrowthRun run(rules, options);
  for (const GrowthSeries& series : all) ISOMER_CHECK(run.run(series));
  ExperimentResult out = run.result();
  out.notes.insert(
      out.notes.end(),
      {"Enumeration here follows only the first sequence to each graph; the paper's is brute force. So speedups over "
       "it do not compare with the paper's.",
       "Published figures are ratios that the text prints; the curves themselves are not printed as numbers.",
       "An exact algorithm that was cut off has no cost, and is not in the plots.",
       fmt::format("Times below {} s are not compared with others.", kShortestSeconds)});
  return out;
}

constexpr double kAlways = 1e9, kNever = 0;

/// The series of Figure 4.
std::vector<GrowthSeries> block_series() {
  GrowthSeries resnet{
      .title = "ResNet blocks, K = 10",
      .axis = {"number of blocks"},
      .exact_up_to = {{"Enumeration", 4}, {"Pruning", kAlways}, {"DPP", kAlways}},
      .over_enumeration = {{{4, "DPP"}, 1515}, {{4, "Pruning"}, 1681}},
      .over_pruning = {{{2, "DPP"}, "slower"},
                       {{4, "DPP"}, "slower"},
                       {{6, "DPP"}, "1.60-2.58"},
                       {{8, "DPP"}, "1.60-2.58"}},
      .sampling_over = {{"DPP", "up to 30.56"}, {"TASO", "up to 10.94"}, {"MetaFlow", "up to 5.24"}},
      .over_sampling = {{"Pruning", "1"}, {"DPP", "1"}, {"TASO", "1.0-1.13"}, {"MetaFlow", "1.0-1.13"}}};
  for (const int blocks : {2, 4, 6, 8})
    resnet.points.push_back({fmt::format("resnet-blocks-{}", blocks), 10, blocks + 0.0});
  GrowthSeries inception{.title = "InceptionE blocks, K = 10",
                         .axis = {"number of blocks"},
                         .exact_up_to = {{"Enumeration", kNever}, {"Pruning", kNever}, {"DPP", kNever}},
                         .sampling_over = {{"TASO", "up to 19.26"}, {"MetaFlow", "up to 9.47"}},
                         .over_sampling = {{"TASO", "similar"}, {"MetaFlow", "up to 1.23"}}};
  for (const int blocks : {1, 2, 3, 4})
    inception.points.push_back({fmt::format("inception-e-{}", blocks), 10, blocks + 0.0});
  return {std::move(resnet), std::move(inception)};
}

/// The series of Figure 5.
std::vector<GrowthSeries> length_series() {
  GrowthSeries resnet{.title = "6 ResNet blocks",
                      .axis = {"maximum length K"},
                      .exact_up_to = {{"Enumeration", 5}, {"Pruning", kAlways}, {"DPP", kAlways}},
                      .over_enumeration = {{{5, "DPP"}, 64.65}},
                      .sampling_over = {{"DPP", "up to 5.78"}, {"TASO", "up to 3.22"}, {"MetaFlow", "up to 3.14"}}};
  for (const char* all : {"Pruning", "DPP", "MetaFlow", "TASO"}) resnet.over_sampling[all] = "1";
  GrowthSeries inception{.title = "3 InceptionE blocks",
                         .axis = {"maximum length K"},
                         .exact_up_to = {{"Enumeration", kNever}, {"Pruning", 5}, {"DPP", 5}},
                         .over_pruning = {{{5, "DPP"}, "2"}},
                         .sampling_over = {{"DPP", "30.44"}, {"TASO", "up to 32.52"}, {"MetaFlow", "up to 8.09"}},
                         .over_sampling = {{"TASO", "similar; 1.05 at K = 25"}, {"MetaFlow", "1.04-1.24"}}};
  for (const int length : {5, 10, 15, 20, 25}) {
    resnet.points.push_back({"resnet-blocks-6", length, length + 0.0});
    inception.points.push_back({"inception-e-3", length, length + 0.0});
    resnet.over_pruning[{length + 0.0, "DPP"}] = "1.60-1.78";
  }
  return {std::move(resnet), std::move(inception)};
}

Result<ExperimentResult> run_block_series(const ReproOptions& options) { return run_growth(block_series(), options); }

Result<ExperimentResult> run_length_series(const ReproOptions& options) {
  ISOMER_TRY(ExperimentResult out, run_growth(length_series(), options));
  out.notes.emplace_back("In the paper, the optimal sequence for 6 ResNet blocks has 11 substitutions.");
  return out;
}

/// The networks of all points, without repetitions.
std::vector<std::string> networks_of_points(const std::vector<GrowthSeries>& all) {
  std::vector<std::string> names;
  for (const GrowthSeries& series : all)
    for (const GrowthSeries::Point& point : series.points)
      if (std::ranges::find(names, point.network) == names.end()) names.push_back(point.network);
  return names;
}

}  // namespace

Experiment ocggs_blocks() { return {run_block_series, networks_of_points(block_series())}; }
Experiment ocggs_lengths() { return {run_length_series, networks_of_points(length_series())}; }

}  // namespace isomer
