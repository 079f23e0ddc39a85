#pragma once
// Deadlines: work ends at a point in time, or earlier on request.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

namespace isomer {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  /// Returns whether to stop now. It is called often and must be fast, until it returns true.
  using Stop = std::function<bool()>;

  /// A deadline in `seconds` seconds; infinity means years. It passes earlier if `stop` returns true. Only the calling
  /// thread ever calls `stop`; threads that have copies of the deadline see what it last returned.
  static Deadline after(double seconds, Stop stop = nullptr) {
    return {time_after(seconds), stop ? asked_here(std::move(stop)) : nullptr};
  }
  /// A deadline that is years away.
  static Deadline never() { return after(kYears); }

  /// This deadline, or `seconds` from now if that is earlier. An undivided deadline is returned unchanged.
  Deadline within(double seconds) const {
    return undivided_ ? *this : Deadline{std::min(at_, time_after(seconds)), stop_};
  }
  /// This deadline, extended to `factor` times the seconds that are left plus `seconds`.
  Deadline extended(double factor, double seconds) const {
    Deadline later(time_after(factor * left() + seconds), stop_);
    later.undivided_ = undivided_;
    return later;
  }
  /// This deadline, which also passes when `flag` is set. Keeps a reference.
  Deadline unless(const std::atomic<bool>& flag) const {
    Deadline out = *this;
    out.stop_ = [stop = stop_, &flag] { return flag || (stop && stop()); };
    return out;
  }
  /// The same deadline, but no part of the work gets less time than the whole. What is done before the deadline then
  /// does not depend on the speed of the machine.
  Deadline undivided() const {
    Deadline whole = *this;
    whole.undivided_ = true;
    return whole;
  }

  /// Seconds that are left; 0 if the deadline has passed.
  double left() const {
    return stopped() ? 0 : std::max(0.0, std::chrono::duration<double>(at_ - Clock::now()).count());
  }
  /// Whether work that is estimated to take `seconds` should not begin. An undivided deadline always lets it begin.
  bool precludes(double seconds) const { return passed() || (!undivided_ && seconds > left()); }
  bool passed() const { return stopped() || Clock::now() >= at_; }
  /// Whether `stop` requested an early end.
  bool stopped() const { return stop_ && stop_(); }
  /// The reason why work ended, for a report: "interrupted" or "time budget".
  const char* reason() const { return stopped() ? "interrupted" : "time budget"; }

 private:
  static constexpr double kYears = 1e8;

  /// Returns a function that calls `stop` only on this thread, until it returns true.
  static Stop asked_here(Stop stop) {
    struct Request {
      explicit Request(Stop asked) : stop(std::move(asked)) {}
      const Stop stop;
      const std::thread::id owner = std::this_thread::get_id();
      std::atomic<bool> made = false;
    };
    return [request = std::make_shared<Request>(std::move(stop))] {
      if (!request->made && std::this_thread::get_id() == request->owner && request->stop()) request->made = true;
      return request->made.load();
    };
  }

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
