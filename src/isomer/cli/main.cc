#include "isomer/cli/app.h"
#include "isomer/cli/signals.h"

int main(int argc, char** argv) {
  isomer::watch_signals();
  return isomer::run_program(argc, argv);
}
