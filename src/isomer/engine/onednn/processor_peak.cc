#include "isomer/engine/onednn/processor_peak.h"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include "isomer/base/processor.h"
#include "isomer/engine/onednn/caches.h"
#include "isomer/engine/onednn/neighbors.h"
#include "isomer/engine/onednn/peak_work.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer {
namespace onednn {
namespace {

int64_t lanes() {
  switch (vector_width()) {
    case VectorWidth::Avx512:
      return kLanes<Vector16>;
    case VectorWidth::Avx2:
      return kLanes<Vector8>;
    case VectorWidth::Sse:
      break;
  }
  return kLanes<Vector4>;
}

double flops_per_second(int threads) {
  constexpr int64_t kRounds = 500'000;
  const volatile float factor = 0.5F;
  std::vector<float> results(static_cast<size_t>(threads));
  const double seconds = fastest(40, [&] {
    parallel_for(threads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        dispatch<MultiplyAdd>(kRounds, static_cast<float>(factor), &results[static_cast<size_t>(i)]);
    });
  });
  return static_cast<double>(2 * kRounds * kChains * lanes() * threads) / seconds;
}

/// Returns the bytes per second that threads read together if each reads its part of the first `bytes` of the data
/// again and again.
double read_per_second(const std::vector<float>& data, double bytes, int threads) {
  const auto each = static_cast<int64_t>(bytes / sizeof(float)) / threads;
  constexpr int64_t kAtLeast = int64_t{4} << 20;  // floats, so that starting the threads does not count
  const int64_t times = std::max<int64_t>(kAtLeast / each, 1);
  std::vector<float> results(static_cast<size_t>(threads));
  const double seconds = fastest(8, [&] {
    parallel_for(threads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        dispatch<Read>(data.data() + i * each, each, times, &results[static_cast<size_t>(i)]);
    });
  });
  return static_cast<double>(each * times * threads) * sizeof(float) / seconds;
}

std::vector<MemoryLevel> memory_levels(int threads) {
  // Systems add up the third level's parts, of which a core reaches one quickly, or only one at all.
  constexpr double kMaxL3 = 32 << 20;
  const std::vector<float> data(kBeyondCaches / sizeof(float), 1.0F);
  std::vector<MemoryLevel> levels{{"L2", static_cast<double>(threads * second_level_bytes())},
                                  {"L3", std::min(static_cast<double>(sysconf(_SC_LEVEL3_CACHE_SIZE)), kMaxL3)}};
  std::erase_if(levels, [&](const MemoryLevel& level) {
    return level.bytes <= 0 || level.bytes > static_cast<double>(kBeyondCaches);
  });
  // A quarter of a cache, since other data is in it, too, and other processes share the third level.
  for (MemoryLevel& level : levels) level.bytes_per_second = read_per_second(data, level.bytes / 4, threads);
  levels.push_back({"memory", std::numeric_limits<double>::infinity(),
                    read_per_second(data, static_cast<double>(kBeyondCaches), threads)});
  return levels;
}

}  // namespace
}  // namespace onednn

double ProcessorPeak::bytes_per_second(double bytes) const {
  return std::ranges::find_if(levels, [=](const MemoryLevel& level) { return bytes <= level.bytes; })->bytes_per_second;
}

Result<ProcessorPeak> measured_peak(int threads) {
  ISOMER_CHECK(onednn::check_threads(threads));
  const onednn::ThreadScope scope(threads);
  ProcessorPeak peak{onednn::flops_per_second(threads), onednn::memory_levels(threads)};
  if (threads > 1 && available_cores() > 1) peak.line_seconds = onednn::line_seconds();
  return peak;
}

}  // namespace isomer
