// Reads a model file with the installed library and prints its graph.

#include <cstdio>

#include "isomer/ir/text.h"
#include "isomer/onnx/import.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto model = isomer::import_model(argv[1]);
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().message.c_str());
    return 1;
  }
  std::puts(isomer::print_graph(model->graph, {.max_elements = 16}).c_str());
  return 0;
}
