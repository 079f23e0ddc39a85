#pragma once
// Threads that wait for work together and begin it within microseconds.

#include <atomic>
#include <thread>
#include <vector>

#include "isomer/base/function_ref.h"

namespace isomer {

/// Waits a little, busily at first: most waits of a team are shorter than what a system call takes. `tries` is how
/// often it was called before for one and the same event.
void wait_briefly(size_t tries);

/// Threads that call a function at the same time, again and again. They are not OpenMP's: a library that uses OpenMP
/// may run in each, and its barriers concern only its own threads.
class ThreadTeam {
 public:
  /// Starts `size` - 1 threads, or fewer if the system has no more; the caller of run() is one, too.
  explicit ThreadTeam(size_t size);
  /// Must not be called during a run.
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  size_t size() const { return threads_.size() + 1; }
  /// Calls work(t) for all t < size(), each in its own thread, 0 in the calling one. Returns when all have returned.
  /// `work` must not throw. One run at a time.
  void run(FunctionRef<void(size_t)> work);

 private:
  void loop(size_t thread);

  const FunctionRef<void(size_t)>* work_ = nullptr;  // nullptr: the threads end
  std::atomic<uint32_t> turn_ = 0;                   // the number of runs that have begun
  std::atomic<uint32_t> busy_ = 0;                   // threads that are not yet done with the current run
  std::vector<std::jthread> threads_;
};

}  // namespace isomer
