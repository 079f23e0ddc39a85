// Figure 9: how much faster do substitutions make training?

#include <algorithm>

#include "isomer/base/processor.h"
#include "isomer/repro/contenders.h"
#include "isomer/repro/metaflow/metaflow.h"
#include "isomer/repro/metaflow/torch_step.h"

namespace isomer {
namespace {

constexpr int kTrainingBatch = 8;
constexpr const char* kTrained[] = {"inception-v3", "squeezenet-bypass", "resnet50", "rnntc", "nmt"};
/// Steps take up to seconds, and so do the measurements of their kernels.
constexpr double kTrainingSearchSeconds = 150;
constexpr ContenderTiming kStepTiming{.loads = 3, .each = {.warmup = 2, .min_runs = 4, .max_runs = 60, .seconds = 2}};

struct TrainingSearch {
  const char* name;
  GraphSearch how;
};

std::vector<TrainingSearch> training_searches() {
  return {
      {"backtracking", {.search = {.search = "backtrack"}, .costs_only = true, .max_seconds = kTrainingSearchSeconds}},
      {"default search", {.max_seconds = kTrainingSearchSeconds}}};
}

/// Adds a bar for the last network.
void add_bar(Chart& chart, size_t series, double value) {
  chart.series[series].points.push_back({static_cast<double>(chart.categories.size() - 1), value});
}

Status run_steps(const std::string& name, const ReproOptions& options, ExperimentResult& out, Chart& chart) {
  options.observer.progress(fmt::format("{}: building the step", name));
  ISOMER_TRY(const WrittenNetwork step, written_training(name, kTrainingBatch, out));
  std::vector<Contender> contenders{{"as it is", step.file}};
  std::vector<Contender> peers;
  if (!options.torch.empty()) {
    ISOMER_TRY(peers, torch_contenders(options.torch, name, kTrainingBatch, step));
  }
  std::vector<std::string> outcomes;
  for (const TrainingSearch& search : training_searches()) {
    const auto output = step.folder.path() / fmt::format("{}.onnx", contenders.size());
    ISOMER_TRY(const WrittenGraph written, write_optimized(step.file, search.how, output, options));
    outcomes.push_back(written.outcome);
    contenders.push_back({search.name, output});
  }
  std::ranges::move(peers, std::back_inserter(contenders));
  options.observer.progress("timing steps of " + name);
  ISOMER_TRY(const auto times, timed(contenders, step.model, kStepTiming));
  chart.categories.push_back(name);
  double best_peer = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    const double us = times[i].median_us;
    const Interval& ratio = times[i].speedup;
    const bool searched = i > 0 && i <= outcomes.size(), peer = i > outcomes.size();
    out.row({name, contenders[i].name, 1e-3 * us, 1e6 * kTrainingBatch / us, ratio.value, interval_text(ratio),
             searched ? outcomes[i - 1] : ""});
    if (!searched)
      std::erase_if(out.rows.back().differs, [](const auto& what) { return what == "rules" || what == "search"; });
    if (peer) best_peer = std::max(best_peer, ratio.value);
    if (!peer) add_bar(chart, i, ratio.value);
  }
  if (!options.torch.empty()) add_bar(chart, chart.series.size() - 1, best_peer);
  return {};
}

Result<ExperimentResult> run_training(const ReproOptions& options) {
  ISOMER_TRY(const auto engine, make_engine("onednn"));
  ExperimentResult out{
      .columns = {{"network"},
                  {"graph"},
                  {"step", "ms", 1},
                  {"throughput", "samples/s", 1},
                  {"over the step as it is", "x"},
                  {"95% interval"},
                  {"search"}},
      .differences = {
          {"engine",
           fmt::format("the built-in runtime {}{} on one core of {}; the paper runs TensorFlow on four V100, with "
                       "data parallelism",
                       engine->version(), options.torch.empty() ? "" : ", or PyTorch,", processor_name())},
          {"batch", fmt::format("{} samples; the paper's 64 are 16 on each GPU", kTrainingBatch)},
          {"rules", "those of `isomer optimize`; the paper has 14 substitutions, which it does not list"},
          {"search", fmt::format("ends after {:g} s at the latest",
                                 std::min(options.time_budget_seconds, kTrainingSearchSeconds))}}};
  Chart chart{.title = fmt::format("Training steps, batch {}", kTrainingBatch),
              .x = {"network"},
              .y = {"throughput over the step as it is", "x"},
              .bars = true};
  chart.series.push_back({"as it is", {}});
  for (const TrainingSearch& search : training_searches()) chart.series.push_back({search.name, {}});
  if (!options.torch.empty()) chart.series.push_back({"PyTorch", {}});
  for (const char* const name : kTrained)
    if (options.includes(name)) ISOMER_CHECK(run_steps(name, options, out, chart));
  out.pictures = {std::move(chart)};
  out.notes.emplace_back(
      "The published figure is drawn without numbers; its text says that throughput grows by up to 1.2 times. It does "
      "not name the networks; these are those of the paper's Table 2.");
  out.notes.emplace_back(
      "A step computes the loss and all gradients, and updates all parameters by SGD with momentum. \"backtracking\" "
      "is MetaFlow's search with alpha 1.05 by the sum of the kernels' costs, without a timing of graphs.");
  out.notes.emplace_back(
      "Steps are loaded and timed in turn, three times. A row with the search \"none\" runs the step as it is: its "
      "difference from the first row is noise.");
  out.notes.emplace_back(
      "The searches of a network share the measured times of kernels: the second measures only those that the first "
      "did not.");
  out.notes.emplace_back(options.torch.empty()
                             ? "With --torch, the steps are compared with PyTorch's."
                             : "PyTorch runs in eager mode, in one thread; the plot has the faster of its layouts. "
                               "bench/training.py compares such steps with PyTorch's part by "
                               "part, in one thread and two; docs/measurements has its tables.");
  return out;
}

}  // namespace

Experiment metaflow_training() { return {run_training, {std::begin(kTrained), std::end(kTrained)}, true}; }

}  // namespace isomer
