#pragma once
// Protects standard input, output and error of the program.

namespace isomer {

/// Opens /dev/null for closed standard streams, so that no file that is opened later gets the number of one. Call it
/// first.
void open_standard_streams();

/// Returns the exit code after all output is written: `exit_code`, or that of a failed machine if standard output could
/// not be written (the disk is full); then it also prints a message.
int flush_standard_output(int exit_code);

}  // namespace isomer
