#pragma once
// Receives the progress of long work.

#include <functional>
#include <string>

#include "isomer/base/trace.h"

namespace isomer {

struct Observer {
  /// Called with one line of text about the current work.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
  /// Receives spans and numbers; nullptr: disabled.
  Trace* trace = nullptr;

  /// Returns the time for spans, in microseconds; 0 if there is no trace.
  double now() const { return trace == nullptr ? 0 : trace->now(); }
  /// Returns the track of the spans of a thread that searches; 0 is the first track, of the calling thread.
  size_t track(size_t thread) const {
    return trace == nullptr || thread == 0 ? 0 : trace->track("search " + std::to_string(thread + 1));
  }
  /// Records a number over time.
  void number(const char* name, double value) const {
    if (trace != nullptr) trace->number(name, value);
  }
};

}  // namespace isomer
