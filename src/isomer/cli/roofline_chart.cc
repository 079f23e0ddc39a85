#include "isomer/cli/roofline_chart.h"

#include <fmt/format.h>

#include <algorithm>

namespace isomer {
namespace {

/// With more, colors would repeat.
constexpr size_t kMaxOperators = 3;
constexpr double kGiga = 1e9;

/// "Conv" of "Conv+Relu f32[1,3,8,8] f32[8,3,3,3]".
std::string operator_of(const KernelShare& kernel) {
  return kernel.kernel.substr(0, kernel.kernel.find_first_of("+ "));
}

/// The limit of kernels whose data is in a level, from so many FLOPs per byte on.
ChartSeries limit(const ProcessorPeak& peak, const MemoryLevel& level, double from, double to) {
  const double ridge = peak.flops_per_second / level.bytes_per_second;
  const double flops = peak.flops_per_second / kGiga, bytes = level.bytes_per_second / kGiga;
  from = std::min(from, ridge / 2);
  return {.name = fmt::format("{}: {:.0f} GB/s", level.name, bytes),
          .points = {{from, from * bytes}, {ridge, flops}, {std::max(to, ridge * 2), flops}}};
}

}  // namespace

Chart roofline_chart(const std::string& model, std::span<const KernelShare> kernels, const ProcessorPeak& peak) {
  Chart chart{.title = fmt::format("{}: at most {:.0f} GFLOP/s", model, peak.flops_per_second / kGiga),
              .x = {"FLOPs per byte", "", true},
              .y = {"speed", "GFLOP/s", true}};
  chart.series.resize(peak.levels.size());
  double from = 1, to = 1;
  for (const KernelShare& kernel : kernels) {  // those that take longest come first
    if (kernel.flops <= 0 || kernel.bytes <= 0 || kernel.us <= 0) continue;
    const ChartPoint point{kernel.flops / kernel.bytes, kernel.flops / kernel.us * 1e6 / kGiga, false, kernel.kernel};
    from = std::min(from, point.x);
    to = std::max(to, point.x);
    std::string name = operator_of(kernel);
    auto series = std::ranges::find(chart.series, name, &ChartSeries::name);
    if (series == chart.series.end() && chart.series.size() >= peak.levels.size() + kMaxOperators)
      series = std::ranges::find(chart.series, name = "others", &ChartSeries::name);
    if (series == chart.series.end())
      series = chart.series.insert(series, {.name = std::move(name), .points = {}, .joined = false});
    series->points.push_back(point);
  }
  for (size_t i = 0; i < peak.levels.size(); ++i) chart.series[i] = limit(peak, peak.levels[i], from, to);
  return chart;
}

}  // namespace isomer
