#include "isomer/ir/type.h"

#include "isomer/base/hash.h"

namespace isomer {

std::string TensorType::str() const {
  return std::string(dtype_name(dtype)) + (shape ? shape_str(*shape) : std::string("[?]"));
}

uint64_t TensorType::hash() const {
  uint64_t h = hash_mix(static_cast<uint64_t>(dtype), shape ? shape->size() : ~uint64_t{0});
  if (shape)
    for (const Dim& dim : *shape) h = hash_mix(h, dim.hash());
  return h;
}

}  // namespace isomer
