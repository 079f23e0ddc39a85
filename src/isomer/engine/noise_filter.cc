#include "isomer/engine/noise_filter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "isomer/base/stopwatch.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer {
namespace {

/// Independent sums, as many as keep a core's arithmetic units busy.
float arithmetic() {
  constexpr int kSteps = 20000;
  std::array<float, 64> sums{};
  for (int step = 0; step < kSteps; ++step)
    for (float& sum : sums) sum = sum * 0.999F + 0.001F;
  return *std::ranges::max_element(sums);
}

}  // namespace

NoiseFilter::NoiseFilter(Probe probe, Clock clock) : probe_(std::move(probe)), clock_(std::move(clock)) {
  if (!clock_) clock_ = [watch = Stopwatch()] { return watch.seconds(); };
}

/// Returns how many times as long as usual kernels take when a probe takes so long; 1 if the machine is quiet.
double NoiseFilter::slowdown(double probe) const {
  constexpr double kHardlyLonger = 1.08, kPower = 0.8;  // not all kernels wait for arithmetic units
  // The fastest of all may be a moment at a higher clock rate, which few measurements meet.
  const double longer = probe / probes_[probes_.size() / 4];
  return longer <= kHardlyLonger ? 1 : std::pow(longer, kPower);
}

double NoiseFilter::next_probe() {
  const double probe = probe_();
  probes_.insert(std::ranges::upper_bound(probes_, probe), probe);
  last_probe_ = probe;
  last_probe_end_ = clock_();
  return probe;
}

std::optional<double> NoiseFilter::watch(const std::function<void()>& measure) {
  constexpr double kLongestWait = 0.3, kShare = 0.15, kMaxPatience = 2;
  constexpr double kFresh = 0.01;  // other load comes and goes within some tenths of a second
  double before = probes_.empty() || clock_() - last_probe_end_ > kFresh ? next_probe() : last_probe_;
  const double begin = clock_();
  const double end = begin + std::min(patience_, kLongestWait);
  while (slowdown(before) > 1 && clock_() < end) before = probe_();
  const double start = clock_();
  patience_ -= start - begin;
  measure();
  const double seconds = clock_() - start;
  const double behind = next_probe();
  if (patience_ > 0 && slowdown(std::max(before, behind)) > 1) {
    patience_ -= seconds;
    return std::nullopt;
  }
  patience_ = std::min(patience_ + kShare * seconds, kMaxPatience);
  return slowdown((before + behind) / 2);
}

Result<KernelTime> NoiseFilter::time(const Measure& measure) {
  Result<KernelTime> time;
  for (;;) {
    const auto slowdown = watch([&] { time = measure(); });
    if (!time) return time;
    if (!slowdown) continue;
    time->us /= *slowdown;
    time->spread /= *slowdown;
    return time;
  }
}

NoiseFilter::Probe arithmetic_probe(int threads) {
  return [threads] {
    constexpr int kTimes = 3;  // the fastest of these counts, so that an interrupt is not taken for other load
    const onednn::ThreadScope scope(threads);
    double shortest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kTimes; ++i) {
      const Stopwatch watch;
      onednn::parallel_for(threads, 1, [](int64_t begin, int64_t end) {
        for (int64_t part = begin; part < end; ++part) {
          [[maybe_unused]] volatile float kept = arithmetic();
        }
      });
      shortest = std::min(shortest, watch.seconds());
    }
    return shortest;
  };
}

}  // namespace isomer
