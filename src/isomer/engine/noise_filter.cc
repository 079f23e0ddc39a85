#include "isomer/engine/noise_filter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

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

double NoiseFilter::slowdown(double probe) const {
  constexpr double kHardlyLonger = 1.08, kPower = 0.8;  // not all kernels wait for arithmetic units
  // The fastest of all may be a moment at a higher clock rate, which few measurements meet.
  const double longer = probe / probes_[probes_.size() / 4];
  return longer <= kHardlyLonger ? 1 : std::pow(longer, kPower);
}

double NoiseFilter::next_probe() {
  const double probe = probe_();
  probes_.insert(std::ranges::upper_bound(probes_, probe), probe);
  return probe;
}

double NoiseFilter::probe_when_quiet() {
  constexpr size_t kPatience = 8000, kShare = 3;  // about 3 s, and a seventh of the time of kernels
  constexpr size_t kAtOnce = 800;
  double probe = next_probe();
  const size_t end = std::min(waited_ + kAtOnce, kShare * probes_.size() + kPatience);
  for (; slowdown(probe) > 1 && waited_ < end; ++waited_) probe = probe_();
  return probe;
}

Result<KernelTime> NoiseFilter::time(const Measure& measure) {
  constexpr int kMaxTries = 8;
  constexpr double kPatience = 3, kShare = 0.25;  // repetitions take these seconds and this share of what was needed
  KernelTime quietest;
  double min_longest = std::numeric_limits<double>::infinity();
  for (int tries = 0; tries < kMaxTries; ++tries) {
    if (tries > 0 && repeated_seconds_ > kShare * first_seconds_ + kPatience) break;
    const double before = probe_when_quiet();
    const Stopwatch watch;
    ISOMER_TRY(const KernelTime time, measure());
    const double behind = next_probe();
    (tries == 0 ? first_seconds_ : repeated_seconds_) += watch.seconds();
    const double longest = std::max(before, behind);
    if (longest < min_longest) {
      quietest = time;
      const double slower = slowdown((before + behind) / 2);
      quietest.us /= slower;
      quietest.spread /= slower;
    }
    min_longest = std::min(min_longest, longest);
    if (slowdown(longest) == 1) return time;
  }
  return quietest;
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
