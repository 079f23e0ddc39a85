#include "isomer/engine/onednn/neighbors.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "isomer/base/processor.h"
#include "isomer/engine/onednn/caches.h"
#include "isomer/engine/onednn/peak_work.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

constexpr int kCalls = 3;
constexpr double kMicroseconds = 1e6;

/// Calls work(thread, threads) in two threads that do not meet on one core.
template <class Work>
void as_neighbors(const Work& work) {
  leave_core_to_leader(2);
  as_team(2, work);
}

/// Waits until a condition that another thread makes true. Both may share a core.
template <class Condition>
void await(const Condition& condition) {
  constexpr int kSpins = 1000;
  for (int spins = 0; !condition(); ++spins)
    if (spins >= kSpins) std::this_thread::yield();
}

/// Returns the microseconds of the fastest of several calls while a neighbor does its work again and again.
template <class Work, class Neighbor>
double us_next_to(const Neighbor& neighbor, const Work& work) {
  std::atomic<bool> begun = false, ended = false;
  double seconds = 0;
  as_neighbors([&](size_t thread, size_t threads) {
    while (thread == 1 && !ended.load()) {
      neighbor();
      begun.store(true);
    }
    if (thread == 1) return;
    if (threads > 1) await([&] { return begun.load(); });
    seconds = fastest(kCalls, work);
    ended.store(true);
  });
  return kMicroseconds * seconds;
}

/// Keeps a result, so that computing it is not left out.
void use(float result) { [[maybe_unused]] const volatile float kept = result; }

void compute() {
  constexpr int64_t kRounds = 100'000;
  const volatile float factor = 0.5F;
  float result = 0;
  dispatch<MultiplyAdd>(kRounds, static_cast<float>(factor), &result);
  use(result);
}

/// The floats of so many bytes.
constexpr int64_t floats_in(int64_t bytes) { return bytes / static_cast<int64_t>(sizeof(float)); }

/// Data to be read.
struct Data {
  static constexpr int64_t kEach = floats_in(kBeyondCaches / 2);  // of each core
  std::vector<float> memory = std::vector<float>(2 * kEach, 1.0F);
  std::vector<float> written = std::vector<float>(static_cast<size_t>(floats_in(second_level_bytes() / 4)));
};

void read(const float* from, int64_t floats) {
  float result = 0;
  dispatch<Read>(from, floats, 1, &result);
  use(result);
}

constexpr int64_t kMebibyte = floats_in(1 << 20);

/// Returns the microseconds of 1 MiB, if so many floats take `us`.
double of_mebibyte(double us, int64_t floats) {
  return us * static_cast<double>(kMebibyte) / static_cast<double>(floats);
}

/// Returns the microseconds of reading 1 MiB that the own core, or the other one, has written just before.
double read_written(Data& data, bool by_other) {
  double seconds = 0;
  std::atomic<int> writes = 0, wanted = 0;
  const auto write = [&](int call) {
    std::ranges::fill(data.written, static_cast<float>(call));
    writes.store(call);
  };
  const auto size = std::ssize(data.written);
  as_neighbors([&](size_t thread, size_t threads) {
    const bool other = by_other && threads > 1;
    for (int call = 1; call <= kCalls; ++call) {
      if (thread == 1 && other) {
        await([&] { return wanted.load() == call; });
        write(call);
      }
      if (thread == 1) continue;
      wanted.store(call);
      if (!other) write(call);
      await([&] { return writes.load() == call; });
      const Stopwatch watch;
      read(data.written.data(), size);
      seconds = call == 1 ? watch.seconds() : std::min(seconds, watch.seconds());
    }
  });
  return of_mebibyte(kMicroseconds * seconds, size);
}

NeighborTimes measured_once(Data& data) {
  int64_t at = 0;
  const auto nothing = [] { std::this_thread::yield(); };
  const auto neighbor_reads = [&] {  // in steps, so that it ends soon
    read(data.memory.data() + Data::kEach + at, kMebibyte);
    at = (at + kMebibyte) % Data::kEach;
  };
  const auto reads = [&] { read(data.memory.data(), Data::kEach); };
  const int64_t shared = floats_in(2 * second_level_bytes());  // the third level holds it
  return {
      us_next_to(nothing, compute),
      us_next_to(compute, compute),
      us_next_to(neighbor_reads, compute),
      of_mebibyte(us_next_to(nothing, reads), Data::kEach),
      of_mebibyte(us_next_to(compute, reads), Data::kEach),
      of_mebibyte(us_next_to(neighbor_reads, reads), Data::kEach),
      of_mebibyte(us_next_to(nothing, [&] { read(data.memory.data(), shared); }), shared),
      read_written(data, false),
      read_written(data, true),
      kMicroseconds * line_seconds(),
  };
}

}  // namespace

double line_seconds() {
  constexpr int kRounds = 5000;
  leave_core_to_leader(2);
  const double seconds = fastest(kCalls, [&] {
    alignas(64) std::atomic<int> turns = 0;
    as_team(2, [&](size_t thread, size_t threads) {
      const int step = static_cast<int>(threads), end = kRounds * step;
      for (int mine = static_cast<int>(thread); mine < end; mine += step) {
        await([&] { return turns.load(std::memory_order_acquire) == mine; });
        turns.store(mine + 1, std::memory_order_release);
      }
    });
  });
  return seconds / (2 * kRounds);
}

Result<NeighborTimes> neighbor_times() {
  if (available_cores() < 2) return fail("kernels have no neighbors on one core");
  ISOMER_CHECK(check_threads(2));
  const ThreadScope scope(2);
  // A host may run two virtual cores on one core for a while, which must not count if it is short.
  constexpr size_t kRounds = 9;
  std::array<std::vector<double>, std::tuple_size_v<NeighborTimes>> all;
  Data data;
  for (size_t round = 0; round < kRounds; ++round) {
    const NeighborTimes times = measured_once(data);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    for (size_t i = 0; i < times.size(); ++i) all[i].push_back(times[i]);
  }
  NeighborTimes out;
  for (size_t i = 0; i < out.size(); ++i) {
    std::ranges::nth_element(all[i], all[i].begin() + kRounds / 4);
    out[i] = all[i][kRounds / 4];
  }
  return out;
}

}  // namespace isomer::onednn
