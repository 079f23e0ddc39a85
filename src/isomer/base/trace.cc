#include "isomer/base/trace.h"

namespace isomer {

size_t Trace::add_track(std::string name) {
  tracks_.push_back(std::move(name));
  return tracks_.size() - 1;
}

TraceScope::TraceScope(Trace* trace, std::string name, std::string category) : trace_(trace) {
  if (trace_ == nullptr) return;
  span_ = {.name = std::move(name), .category = std::move(category), .start = trace_->now()};
}

TraceScope::~TraceScope() {
  if (trace_ == nullptr) return;
  span_.duration = trace_->now() - span_.start;
  trace_->add(std::move(span_));
}

void TraceScope::note(const char* name, std::variant<double, std::string> value) {
  if (trace_ != nullptr) span_.notes.emplace_back(name, std::move(value));
}

}  // namespace isomer
