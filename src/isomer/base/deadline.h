#pragma once
// When work has to end: at a time, or as soon as somebody asks for it.

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

namespace isomer {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  /// Whether to end at once. It is asked often and must be quick; once true, it must stay true.
  using Stop = std::function<bool()>;

  /// That many seconds from now; infinitely many are years. Passes earlier when `stop` asks for it.
  static Deadline after(double seconds, Stop stop = nullptr) { return {time_after(seconds), std::move(stop)}; }
  /// Years from now.
  static Deadline never() { return after(kYears); }

  /// This deadline, but at most that many seconds from now. An undivided deadline stays as it is.
  Deadline within(double seconds) const {
    return undivided_ ? *this : Deadline{std::min(at_, time_after(seconds)), stop_};
  }
  /// This deadline, put off to `factor` times the seconds that are left and `seconds` more.
  Deadline extended(double factor, double seconds) const {
    Deadline later(time_after(factor * left() + seconds), stop_);
    later.undivided_ = undivided_;
    return later;
  }
  /// The same deadline, which gives no part of the work less time than the whole: what is done before it passes does
  /// not depend on how fast the machine is.
  Deadline undivided() const {
    Deadline whole = *this;
    whole.undivided_ = true;
    return whole;
  }

  /// Seconds until then, 0 when it has passed.
  double left() const {
    return stopped() ? 0 : std::max(0.0, std::chrono::duration<double>(at_ - Clock::now()).count());
  }
  /// Whether work that is estimated to take that long should not begin. An undivided deadline lets it begin.
  bool precludes(double seconds) const { return passed() || (!undivided_ && seconds > left()); }
  bool passed() const { return stopped() || Clock::now() >= at_; }
  /// Whether somebody asked to end before the time.
  bool stopped() const { return stop_ && stop_(); }
  /// Why work ended here, for a report: "interrupted" or "time budget".
  const char* reason() const { return stopped() ? "interrupted" : "time budget"; }

 private:
  static constexpr double kYears = 1e8;

  Deadline(Clock::time_point at, Stop stop) : at_(at), stop_(std::move(stop)) {}
  static Clock::time_point time_after(double seconds) {
    return Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::clamp(seconds, 0.0, kYears)));
  }

  Clock::time_point at_;
  Stop stop_;
  bool undivided_ = false;
};

}  // namespace isomer
