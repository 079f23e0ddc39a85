#pragma once
// Measures elapsed time.

#include <chrono>

namespace isomer {

/// Starts when it is constructed.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace isomer
