#pragma once
// What happened when: spans of time that nest, and numbers that change.

#include <chrono>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace isomer {

/// What is told about a span, by name.
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

/// A number that has this value from a time on.
struct TraceNumber {
  std::string name;
  double time = 0;
  double value = 0;
};

/// One thread writes at a time.
class Trace {
 public:
  /// The first track has this name.
  explicit Trace(std::string name) : tracks_{std::move(name)} {}

  double now() const { return time(Clock::now()); }
  double time(std::chrono::steady_clock::time_point at) const {
    return std::chrono::duration<double, std::micro>(at - start_).count();
  }
  /// A further row of spans, beside the ones that there are.
  size_t add_track(std::string name);
  void add(TraceSpan span) { spans_.push_back(std::move(span)); }
  void number(const std::string& name, double value) { numbers_.push_back({name, now(), value}); }

  /// In the order in which they ended; spans of one track contain each other or are apart.
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

/// A span of the first track from here to the end of the object's life. Without a trace (null) nothing happens.
class TraceScope {
 public:
  TraceScope(Trace* trace, std::string name, std::string category);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

  void note(const char* name, std::variant<double, std::string> value);

 private:
  Trace* const trace_;
  TraceSpan span_;
};

}  // namespace isomer
