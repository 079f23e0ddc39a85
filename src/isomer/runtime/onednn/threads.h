#pragma once
// How many threads oneDNN's kernels take: it asks the OpenMP runtime, which keeps one number for each calling thread.

namespace isomer::onednn {

/// The number for kernels that the calling thread makes and runs now.
int current_threads();

/// Sets the number for the calling thread while it lives.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  const int before_;
};

}  // namespace isomer::onednn
