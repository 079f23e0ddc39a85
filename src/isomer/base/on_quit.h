#pragma once
// What must still happen when a signal ends the program before destructors run.

#include <functional>

namespace isomer {

/// While the object lives, run_on_quit() calls the action.
class OnQuit {
 public:
  explicit OnQuit(std::function<void()> action);
  ~OnQuit();
  OnQuit(const OnQuit&) = delete;
  OnQuit& operator=(const OnQuit&) = delete;
};

/// Calls the actions of all objects that live, the newest first, while other threads may still run. For a program that
/// ends right afterwards; the library itself never calls it.
void run_on_quit();

}  // namespace isomer
