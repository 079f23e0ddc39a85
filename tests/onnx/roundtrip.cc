// roundtrip IN OUT: imports a model and exports it as it is; where IN is a folder, every model in it into the folder
// OUT. For roundtrip_test.py, operators_test.py and large_test.py.

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "isomer/base/stopwatch.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/onnx/input_file.h"

namespace {

namespace fs = std::filesystem;

isomer::Status roundtrip(const fs::path& in, const fs::path& out) {
  const isomer::Stopwatch watch;
  ISOMER_TRY(const isomer::Model model, isomer::import_model(in));
  const double milliseconds = 1e3 * watch.seconds();
  const auto opaque = std::ranges::count_if(model.graph.nodes(), [](const auto& node) { return node.is_opaque(); });
  fmt::print("{}: {} values, {} opaque, imported in {:.0f} ms\n", in.filename().string(), model.graph.nodes().size(),
             opaque, milliseconds);
  return isomer::export_model(model, out);
}

/// Reports each model that fails.
isomer::Status roundtrip_all(const fs::path& in, const fs::path& out) {
  size_t failed = 0;
  for (const auto& entry : fs::directory_iterator(in)) {
    const isomer::Status done = roundtrip(entry.path(), out / entry.path().filename());
    if (done) continue;
    fmt::print(stderr, "{}\n", done.error().message);
    ++failed;
  }
  if (failed > 0) return isomer::fail("{} models failed", failed);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: {} IN OUT\n", argv[0]);
    return 2;
  }
  isomer::map_input_files();
  const isomer::Status done = fs::is_directory(argv[1]) ? roundtrip_all(argv[1], argv[2]) : roundtrip(argv[1], argv[2]);
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? EXIT_SUCCESS : 2;
}
