#pragma once
// A record of events over time: nested spans and numbers that change.

#include <chrono>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace isomer {

/// Named details of a span.
using TraceNotes = std::vector<std::pair<std::string, std::variant<double, std::string>>>;

/// Times are in microseconds since the trace was made.
struct TraceSpan {
  std::string name;
  std::string category;
  double start = 0;
  double duration = 0;
  size_t track = 0;
  TraceNotes notes = {};
};

/// A number that has this value from `time` on.
struct TraceNumber {
  std::string name;
  double time = 0;
  double value = 0;
};

/// Only one thread may write at a time.
class Trace {
 public:
  /// `name` is the name of the first track.
  explicit Trace(std::string name) : tracks_{std::move(name)} {}

  double now() const { return time(Clock::now()); }
  double time(std::chrono::steady_clock::time_point at) const {
    return std::chrono::duration<double, std::micro>(at - start_).count();
  }
  /// Adds a track: another row of spans.
  size_t add_track(std::string name);
  /// Returns the track of that name, which is added if there is none.
  size_t track(const std::string& name);
  void add(TraceSpan span) { spans_.push_back(std::move(span)); }
  void number(const std::string& name, double value) { numbers_.push_back({name, now(), value}); }

  /// In the order in which they were added. Spans of one track are either nested or disjoint.
  const std::vector<TraceSpan>& spans() const { return spans_; }
  const std::vector<TraceNumber>& numbers() const { return numbers_; }
  const std::vector<std::string>& tracks() const { return tracks_; }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start_ = Clock::now();
  std::vector<std::string> tracks_;
  std::vector<TraceSpan> spans_;
  std::vector<TraceNumber> numbers_;
};

/// A span of the first track that lasts for the lifetime of the object. With a null trace, nothing is recorded.
class TraceScope {
 public:
  TraceScope(Trace* trace, std::string name, std::string category);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

  void note(const char* name, std::variant<double, std::string> value);
  /// Sets the track and the time of the span, in microseconds, instead of the lifetime of the scope.
  void took(size_t track, double start, double duration);

 private:
  Trace* const trace_;
  TraceSpan span_;
  bool is_timed_ = false;
};

}  // namespace isomer
