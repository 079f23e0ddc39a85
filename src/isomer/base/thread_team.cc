#include "isomer/base/thread_team.h"

#include "isomer/base/parallel.h"

namespace isomer {
namespace {

/// Waits until a number differs from `old`: for a while busily, then asleep.
void wait_for_change(const std::atomic<uint32_t>& number, uint32_t old) {
  constexpr size_t kAwake = 4000;
  for (size_t tries = 0; number.load(std::memory_order_acquire) == old; ++tries) {
    if (tries < kAwake)
      wait_briefly(tries);
    else
      number.wait(old, std::memory_order_acquire);
  }
}

}  // namespace

void wait_briefly(size_t tries) {
  constexpr size_t kBusy = 2000;
  if (tries > kBusy) return std::this_thread::yield();
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

ThreadTeam::ThreadTeam(size_t size) {
  if (size > 1) start_threads(threads_, size - 1, [this](size_t thread) { loop(thread); });
}

ThreadTeam::~ThreadTeam() {
  work_ = nullptr;
  turn_.fetch_add(1, std::memory_order_release);
  turn_.notify_all();
}

void ThreadTeam::run(FunctionRef<void(size_t)> work) {
  work_ = &work;
  busy_.store(static_cast<uint32_t>(threads_.size()), std::memory_order_relaxed);
  turn_.fetch_add(1, std::memory_order_release);
  turn_.notify_all();
  work(0);
  for (uint32_t busy = busy_.load(std::memory_order_acquire); busy != 0; busy = busy_.load(std::memory_order_acquire))
    wait_for_change(busy_, busy);
}

void ThreadTeam::loop(size_t thread) {
  for (uint32_t seen = 0;; ++seen) {
    wait_for_change(turn_, seen);
    if (work_ == nullptr) return;
    (*work_)(thread);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

}  // namespace isomer
