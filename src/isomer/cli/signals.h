#pragma once
// Handles SIGINT, SIGTERM and SIGHUP for the program. The library and its interfaces for other languages do not change
// signals.

namespace isomer {

/// From now on, such a signal removes temporary folders, ends workers, and exits with 128 + its number. A signal that
/// is ignored at this point (nohup) stays ignored. Call from main, before any thread starts.
void watch_signals();

/// While the object lives, the first signal only sets a flag, and the second one exits with 130.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  /// Returns whether a signal arrived during its life.
  static bool interrupted();
};

}  // namespace isomer
