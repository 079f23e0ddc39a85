#pragma once
// Actions that must still run when a signal ends the program before destructors run.

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

/// Calls the actions of all live objects, the newest first, while other threads may still run. Meant for a program that
/// exits right afterwards; the library itself never calls it.
void run_on_quit();

}  // namespace isomer
