#include "isomer/cli/app.h"
#include "isomer/cli/signals.h"
#include "isomer/cli/standard_streams.h"
#include "isomer/onnx/input_file.h"

int main(int argc, char** argv) {
  isomer::open_standard_streams();
  isomer::watch_signals();
  isomer::map_input_files();
  return isomer::flush_standard_output(isomer::run_program(argc, argv));
}
