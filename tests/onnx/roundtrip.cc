// roundtrip IN.onnx OUT.onnx: imports a model and exports it as it is. For roundtrip_test.py and large_test.py.

#include <chrono>
#include <cstdlib>

#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"

namespace {

isomer::Status roundtrip(const char* in, const char* out) {
  const auto start = std::chrono::steady_clock::now();
  ISOMER_TRY(const isomer::Model model, isomer::import_model(in));
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  fmt::print("{} values, imported in {:.0f} ms\n", model.graph.nodes().size(), spent.count());
  return isomer::export_model(model, out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: {} IN.onnx OUT.onnx\n", argv[0]);
    return 2;
  }
  const isomer::Status done = roundtrip(argv[1], argv[2]);
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? EXIT_SUCCESS : 2;
}
