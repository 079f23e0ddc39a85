#pragma once
// Standard input, output and error of the program.

namespace isomer {

/// Opens /dev/null for those that are closed, so that no file or pipe that is opened later takes the place of one. Call
/// it first.
void open_standard_streams();

/// The exit code once all output is written: `exit_code`, or that of a failed machine where standard output could not
/// be written (the disk is full), which is then said.
int flush_standard_output(int exit_code);

}  // namespace isomer
