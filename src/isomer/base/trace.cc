#include "isomer/base/trace.h"

#include <algorithm>

namespace isomer {

size_t Trace::add_track(std::string name) {
  tracks_.push_back(std::move(name));
  return tracks_.size() - 1;
}

size_t Trace::track(const std::string& name) {
  const auto found = std::ranges::find(tracks_, name);
  return found == tracks_.end() ? add_track(name) : static_cast<size_t>(found - tracks_.begin());
}

TraceScope::TraceScope(Trace* trace, std::string name, std::string category) : trace_(trace) {
  if (trace_ == nullptr) return;
  span_ = {.name = std::move(name), .category = std::move(category), .start = trace_->now()};
}

TraceScope::~TraceScope() {
  if (trace_ == nullptr) return;
  if (!is_timed_) span_.duration = trace_->now() - span_.start;
  trace_->add(std::move(span_));
}

void TraceScope::took(size_t track, double start, double duration) {
  span_.track = track;
  span_.start = start;
  span_.duration = duration;
  is_timed_ = true;
}

void TraceScope::note(const char* name, std::variant<double, std::string> value) {
  if (trace_ != nullptr) span_.notes.emplace_back(name, std::move(value));
}

}  // namespace isomer
