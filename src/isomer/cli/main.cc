#include "isomer/cli/app.h"

int main(int argc, char** argv) { return isomer::run_program(argc, argv); }
