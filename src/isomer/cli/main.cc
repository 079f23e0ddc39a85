#include "isomer/cli/app.h"
#include "isomer/cli/signals.h"
#include "isomer/onnx/input_file.h"

int main(int argc, char** argv) {
  isomer::watch_signals();
  isomer::map_input_files();
  return isomer::run_program(argc, argv);
}
