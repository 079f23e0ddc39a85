#include "isomer/engine/onednn/vectors.h"

#include <unistd.h>

#include <algorithm>
#include <dnnl.hpp>

namespace isomer::onednn {
namespace {

bool has(dnnl::cpu_isa wanted) {
  // OneDNN's answer, so that its environment variable also limits our kernels.
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  return (isa & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
}

}  // namespace

VectorWidth vector_width() {
  static const VectorWidth kWidth = has(dnnl::cpu_isa::avx512_core) ? VectorWidth::Avx512
                                    : has(dnnl::cpu_isa::avx2)      ? VectorWidth::Avx2
                                                                    : VectorWidth::Sse;
  return kWidth;
}

int64_t second_level_bytes() {
  static const int64_t kBytes = std::max<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE), 256 << 10);
  return kBytes;
}

const char* own_implementation() {
  switch (vector_width()) {
    case VectorWidth::Avx512:
      return "own:avx512";
    case VectorWidth::Avx2:
      return "own:avx2";
    case VectorWidth::Sse:
      break;
  }
  return "own:sse2";
}

}  // namespace isomer::onednn
