#pragma once
// The number of threads of oneDNN's kernels: it asks the OpenMP runtime, which keeps one number per calling thread. Our
// own kernels share these threads.

#include <cstddef>
#include <cstdint>

#include "isomer/base/result.h"

namespace isomer::onednn {

/// Returns the number for kernels that the calling thread makes and runs now.
int current_threads();

/// Returns an Error if kernels that are made for so many threads would run in fewer: because of a limit of OpenMP, or
/// because the calling thread is in a parallel region. Then they would compute only a part of their results.
Status check_threads(int threads);

/// Sets the number for the calling thread until it is destroyed. OpenMP does not change it by itself.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  const int before_;
  const int dynamic_;  // whether OpenMP was allowed to change it
};

/// Calls `work` for parts [begin, end) of [0, count) of about equal size; `work` must not throw.
using PartWork = void (*)(const void* what, int64_t begin, int64_t end);
void run_parts(int64_t count, int64_t grain, const void* what, PartWork work);

/// Calls work(begin, end) for parts of [0, count), in the current number of threads, or in fewer if they would get less
/// than `grain` each. Allocates nothing.
template <class Work>
void parallel_for(int64_t count, int64_t grain, const Work& work) {
  run_parts(count, grain, &work,
            [](const void* what, int64_t begin, int64_t end) { (*static_cast<const Work*>(what))(begin, end); });
}

/// Calls `work` with the number of the thread and that of all threads, from 0 on.
using TeamWork = void (*)(const void* what, size_t thread, size_t threads);
void run_as_team(size_t threads, const void* what, TeamWork work);

/// Calls work(thread, threads) at the same time in up to this many threads: the calling one, which is number 0, and
/// others of those in which kernels with several threads run. Returns when all have returned. `work` must not throw,
/// and may only run kernels with one thread, each in `apart`.
template <class Work>
void as_team(size_t threads, const Work& work) {
  run_as_team(threads, &work,
              [](const void* what, size_t thread, size_t all) { (*static_cast<const Work*>(what))(thread, all); });
}

/// Keeps the other threads of a team of this size, the helpers, off the core on which the calling thread, which leads
/// it, runs now. A helper that has slept may wake up on the leader's core, and the system takes milliseconds to move it
/// to an idle one. With one helper, fast if the leader has not changed its core since the last call; with more, it
/// costs a parallel region. Does nothing if the leader may not use as many cores as there are threads, or if OpenMP
/// binds threads to cores by itself (OMP_PROC_BIND).
void leave_core_to_leader(size_t threads);

/// Calls `work` in this thread, as a team of its own: some kernels with one thread wait at a barrier for the team that
/// they are in. `work` must not throw.
using ApartWork = void (*)(const void* what);
void run_apart(const void* what, ApartWork work);
template <class Work>
void apart(const Work& work) {
  run_apart(&work, [](const void* what) { (*static_cast<const Work*>(what))(); });
}

}  // namespace isomer::onednn
