#pragma once
// When a search has to end.

#include <algorithm>
#include <chrono>

namespace isomer {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  /// That many seconds from now; infinitely many are years.
  static Deadline after(double seconds) {
    constexpr double kYears = 1e8;
    return Deadline(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(std::clamp(seconds, 0.0, kYears))));
  }

  Clock::time_point at() const { return at_; }
  /// Seconds until then, 0 when it has passed.
  double left() const { return std::max(0.0, std::chrono::duration<double>(at_ - Clock::now()).count()); }
  bool passed() const { return Clock::now() >= at_; }

 private:
  explicit Deadline(Clock::time_point at) : at_(at) {}
  Clock::time_point at_;
};

}  // namespace isomer
