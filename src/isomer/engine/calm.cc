#include "isomer/engine/calm.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "isomer/runtime/onednn/threads.h"

namespace isomer {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Sums that do not wait for each other, as many as keep a core's units for arithmetic busy.
float arithmetic() {
  constexpr int kSteps = 20000;
  std::array<float, 64> sums{};
  for (int step = 0; step < kSteps; ++step)
    for (float& sum : sums) sum = sum * 0.999F + 0.001F;
  return *std::ranges::max_element(sums);
}

}  // namespace

Result<KernelTime> Calm::time(const Measure& measure) {
  constexpr double kHardlyLonger = 1.08;
  constexpr int kMostTries = 8;
  constexpr double kPatience = 5;  // seconds of repeating beyond what was to be measured anyway
  KernelTime calmest;
  double least = std::numeric_limits<double>::infinity();
  for (int tries = 0; tries < kMostTries; ++tries) {
    if (tries > 0 && repeated_seconds_ > first_seconds_ + kPatience) break;
    const Clock::time_point start = Clock::now();
    const double before = probe_();
    ISOMER_TRY(const KernelTime time, measure());
    const double behind = probe_();
    shortest_ = std::min({shortest_, before, behind});
    (tries == 0 ? first_seconds_ : repeated_seconds_) += seconds_since(start);
    const double longer = std::max(before, behind);
    if (longer <= kHardlyLonger * shortest_) return time;
    if (longer < least) calmest = time;
    least = std::min(least, longer);
  }
  return calmest;
}

Calm::Probe arithmetic_probe(int threads) {
  return [threads] {
    constexpr int kTimes = 3;  // an interrupt is no neighbor
    const onednn::ThreadScope scope(threads);
    double shortest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kTimes; ++i) {
      const Clock::time_point start = Clock::now();
      onednn::parallel_for(threads, 1, [](int64_t begin, int64_t end) {
        for (int64_t part = begin; part < end; ++part) {
          [[maybe_unused]] volatile float kept = arithmetic();
        }
      });
      shortest = std::min(shortest, seconds_since(start));
    }
    return shortest;
  };
}

}  // namespace isomer
