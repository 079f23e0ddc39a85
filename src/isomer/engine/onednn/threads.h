#pragma once
// The number of threads of oneDNN's kernels: it asks the OpenMP runtime, which keeps one number per calling thread. Our
// own kernels share these threads.

#include <cstdint>

namespace isomer::onednn {

/// Returns the number for kernels that the calling thread makes and runs now.
int current_threads();

/// Sets the number for the calling thread until it is destroyed.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  const int before_;
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

}  // namespace isomer::onednn
