#include "isomer/engine/onednn/vectors.h"

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
