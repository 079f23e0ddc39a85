// Figure 11: throughput by batch size and method.

#include "isomer/repro/autograph/autograph.h"
#include "isomer/repro/autograph/methods.h"

namespace isomer {
namespace {

constexpr const char* kBatchedNetwork = "nasnet-mobile";
constexpr int kBatches[] = {1, 2, 4, 8};

Result<ExperimentResult> run_batches(const ReproOptions& options) {
  ExperimentResult out{.columns = {{"batch"},
                                   {"method"},
                                   {"measured", "ms", 3},
                                   {"throughput", "images/s", 1},
                                   {"over JIT", "x"},
                                   {"95% interval"},
                                   {"search"}},
                       .differences = method_differences()};
  Chart chart{.title = fmt::format("Throughput of {}", kBatchedNetwork),
              .x = {"batch size"},
              .y = {"throughput over JIT", "x"}};
  for (const LatencyMethod& method : latency_methods()) chart.series.push_back({method.name, {}});
  for (const int batch : kBatches) {
    options.observer.progress(fmt::format("{}, batch {}", kBatchedNetwork, batch));
    chart.categories.push_back(fmt::format("{}", batch));
    ISOMER_TRY(const WrittenNetwork network, written_network(kBatchedNetwork, batch, out));
    ISOMER_TRY(const auto times, time_methods(network, options));
    for (size_t i = 0; i < times.size(); ++i) {
      const ContenderTime& time = times[i].time;
      out.row({batch, latency_methods()[i].name, 1e-3 * time.median_us, 1e6 * batch / time.median_us,
               time.speedup.value, interval_text(time.speedup), times[i].search});
      chart.series[i].points.push_back({static_cast<double>(chart.categories.size() - 1), time.speedup.value});
    }
  }
  out.pictures = {std::move(chart)};
  out.notes = method_notes();
  out.notes.emplace_back("The published figure is drawn without numbers.");
  return out;
}

}  // namespace

Experiment autograph_batches() { return {run_batches, {kBatchedNetwork}}; }

}  // namespace isomer
