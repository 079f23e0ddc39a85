#pragma once
// A loop on several threads.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace isomer {

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
    try {
      for (int t = 1; t < threads && next < n; ++t) others.emplace_back(loop, static_cast<size_t>(t));
    } catch (const std::exception&) {  // those that were started do the work
    }
    loop(0);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace isomer
