// libFuzzer target: for any bytes, the reader returns a tensor or an error, and a written tensor can be read back
// unchanged.

#include <algorithm>
#include <cstdlib>

#include "isomer/onnx/npy.h"

namespace {

bool same(const isomer::Tensor& a, const isomer::Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (a.dtype() == isomer::DType::String) return std::ranges::equal(a.string_elements(), b.string_elements());
  return std::ranges::equal(a.bytes(), b.bytes());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto tensor = isomer::parse_npy(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!tensor) return 0;
  const auto bytes = isomer::npy_bytes(*tensor);
  // `S` elements need not be UTF-8, but written text must be.
  if (!bytes) return 0;
  const auto again = isomer::parse_npy(*bytes);
  if (again && same(*tensor, *again)) return 0;
  fmt::print(stderr, "does not read back: {}\n", again ? "it differs" : again.error().message);
  std::abort();
}
