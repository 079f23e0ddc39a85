// libFuzzer target: for any bytes, import returns a model or an error, and an imported model can be exported and
// imported again.

#include <cstdlib>
#include <string_view>

#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"

namespace {

/// Stops the fuzzer with the reason.
[[noreturn]] void report(const char* what, const isomer::Error& error) {
  fmt::print(stderr, "{}: {}\n", what, error.message);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto model = isomer::import_bytes(bytes, {}, "fuzz");
  if (!model) return 0;
  const auto out = isomer::export_bytes(*model);
  if (!out) report("export", out.error());
  const auto again = isomer::import_bytes(*out, {}, "again");
  if (!again) report("import of the export", again.error());
  if (again->graph.outputs().size() != model->graph.outputs().size()) std::abort();
  return 0;
}
