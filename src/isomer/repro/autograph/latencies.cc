// Table 2: latency of networks by method.

#include "isomer/repro/autograph/autograph.h"
#include "isomer/repro/autograph/methods.h"

namespace isomer {
namespace {

/// Milliseconds of the published methods, in the order of latency_methods; 0: none.
struct PublishedLatencies {
  const char* network;
  double ms[6];
};
constexpr PublishedLatencies kPublished[] = {{"inception-v3", {8.839, 7.819, 3.788, 3.174, 2.928, 2.799}},
                                             {"resnet50", {4.566, 4.554, 3.284, 2.144, 1.988, 1.905}},
                                             {"resnext50", {7.540, 7.369, 3.056, 7.708, 5.933, 2.892}},
                                             {"nasnet-a", {13.891, 10.843, 9.583, 6.483, 13.086, 5.850}},
                                             {"nasnet-mobile", {10.155, 8.085, 3.821, 2.320, 6.540, 1.883}},
                                             {"rnntc", {1.496, 1.307, 0, 0.486, 0.387, 0.387}},
                                             {"bert-8", {11.011, 9.026, 0, 6.923, 6.473, 6.240}}};

Status run_network(const PublishedLatencies& published, const ReproOptions& options, ExperimentResult& out) {
  ISOMER_TRY(const WrittenNetwork network, written_network(published.network, 1, out));
  ISOMER_TRY(const auto times, time_methods(network, options));
  for (size_t i = 0; i < times.size(); ++i) {
    const LatencyMethod& method = latency_methods()[i];
    const double ms = method.published ? published.ms[i] : 0;
    const auto or_null = [&](double number) { return ms > 0 ? nlohmann::json(number) : nlohmann::json(); };
    const ContenderTime& time = times[i].time;
    out.row({published.network, method.name, or_null(ms), or_null(published.ms[0] / ms), 1e-3 * time.median_us,
             time.speedup.value, interval_text(time.speedup), times[i].search});
  }
  return {};
}

Result<ExperimentResult> run_latencies(const ReproOptions& options) {
  ExperimentResult out{.columns = {{"network"},
                                   {"method"},
                                   {"published", "ms", 3},
                                   {"published over JIT", "x"},
                                   {"measured", "ms", 3},
                                   {"over JIT", "x"},
                                   {"95% interval"},
                                   {"search"}},
                       .differences = method_differences()};
  for (const PublishedLatencies& published : kPublished)
    if (options.includes(published.network)) ISOMER_CHECK(run_network(published, options, out));
  out.notes = method_notes();
  out.notes.emplace_back("The paper's RNNTC-SRU has other sizes than rnntc, and its figures have no intervals.");
  return out;
}

}  // namespace

Experiment autograph_latencies() { return {run_latencies, networks_of(kPublished)}; }

}  // namespace isomer
