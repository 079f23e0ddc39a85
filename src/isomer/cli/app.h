#pragma once
// The program `isomer`, as a function.

namespace isomer {

/// Runs the command line and returns the exit code: 0 done, 1 a finding, 2 bad input or usage.
int run_program(int argc, const char* const* argv);

}  // namespace isomer
