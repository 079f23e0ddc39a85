#pragma once
// Actions that must still run when a signal ends the program before destructors run.

#include <functional>
#include <utility>

#include "isomer/base/function_ref.h"

namespace isomer {

/// While the object lives, run_on_quit() and quit() call the action.
class OnQuit {
 public:
  explicit OnQuit(std::function<void()> action) : OnQuit([] {}, std::move(action)) {}
  /// Calls `create` first. quit() does not end the program between its beginning and the end of this constructor, so
  /// what it creates is not left behind.
  OnQuit(FunctionRef<void()> create, std::function<void()> action);
  ~OnQuit();
  OnQuit(const OnQuit&) = delete;
  OnQuit& operator=(const OnQuit&) = delete;
};

/// Calls the actions of all live objects, the newest first, while other threads may still run.
void run_on_quit();

/// Does the same and ends the program with this status, without destructors. The library itself never calls it.
[[noreturn]] void quit(int status);

}  // namespace isomer
