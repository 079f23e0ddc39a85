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

  /// Records a number over time.
  void number(const char* name, double value) const {
    if (trace != nullptr) trace->number(name, value);
  }
};

}  // namespace isomer
