#pragma once
// Threads that work together.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace isomer {

/// Waits a little, busily at first: most waits of threads that work together are shorter than what a system call takes.
/// `tries` is how often it was called before for one and the same event.
inline void wait_briefly(size_t tries) {
  constexpr size_t kBusy = 2000;
  if (tries > kBusy) return std::this_thread::yield();
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Starts threads that call loop(1) to loop(count), or fewer if the system has no more.
template <class Loop>
void start_threads(std::vector<std::jthread>& threads, size_t count, const Loop& loop) {
  threads.reserve(count);
  for (bool more = true; more && threads.size() < count;) {
    try {
      threads.emplace_back(loop, threads.size() + 1);
    } catch (const std::exception&) {
      more = false;
    }
  }
}

/// Calls work(i, thread) for all i < n in chunks of `chunk`, on `threads` threads, or on fewer if the system has no
/// more. The calling thread is number 0. After an exception no more chunks begin, and the first one is thrown.
template <class Work>
void parallel_for(size_t n, int threads, size_t chunk, const Work& work) {
  std::atomic<size_t> next = 0;
  std::exception_ptr error;
  std::once_flag failed;
  const auto loop = [&](size_t thread) {
    try {
      for (size_t begin = next.fetch_add(chunk); begin < n; begin = next.fetch_add(chunk))
        for (size_t i = begin; i < std::min(begin + chunk, n); ++i) work(i, thread);
    } catch (...) {
      std::call_once(failed, [&] { error = std::current_exception(); });
      next = n;
    }
  };
  {
    std::vector<std::jthread> others;
    start_threads(others, std::min(static_cast<size_t>(std::max(threads, 1)), std::max<size_t>(n, 1)) - 1, loop);
    loop(0);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace isomer
