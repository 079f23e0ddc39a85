#pragma once
// SIGINT, SIGTERM and SIGHUP for the program. The library and its interfaces for other languages leave signals alone.

namespace isomer {

/// From now on, such a signal removes temporary folders, ends workers and quits with 128 + its number. A signal that
/// is ignored at this point (nohup) stays ignored. For main, before any thread starts.
void watch_signals();

/// While the object lives, the first signal only says so, and the second one quits with 130.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  /// Whether a signal came since then.
  static bool interrupted();
};

}  // namespace isomer
