#pragma once
// Handles SIGINT, SIGTERM and SIGHUP for the program. The library and its interfaces for other languages do not change
// signals.

namespace isomer {

/// From now on, such a signal removes temporary folders, ends workers, and exits with 128 + its number. A signal that
/// is ignored at this point (nohup) stays ignored. Call from main, before any thread starts.
void watch_signals();

/// From now on, the first signal only sets a flag, and the second one exits with 130. That holds until the program
/// ends: a signal that arrives while the last output is written must not make a finished run fail.
void wait_for_second_signal();

/// Returns whether a signal has arrived since.
bool interrupted();

}  // namespace isomer
