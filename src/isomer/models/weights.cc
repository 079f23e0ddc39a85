#include "isomer/models/weights.h"

#include <cmath>

#include "isomer/base/hash.h"
#include "isomer/base/rng.h"

namespace isomer {

Tensor seeded_weight(std::string_view name, const std::vector<int64_t>& dims, float center, float radius,
                     uint64_t seed) {
  Tensor tensor = Tensor::zeros(DType::Float, dims);
  const auto elements = tensor.mutable_data<float>();
  Rng rng(hash_text(name, seed));
  // Two elements per random number, because large networks have more than 100 million. 24 bits convert to float
  // exactly.
  const float step = radius * 0x1.0p-23F;
  const auto element = [&](uint64_t bits) {
    return center + step * static_cast<float>(static_cast<int32_t>(bits & 0xffffff) - (1 << 23));
  };
  size_t i = 0;
  for (; i + 1 < elements.size(); i += 2) {
    const uint64_t bits = rng.next();
    elements[i] = element(bits);
    elements[i + 1] = element(bits >> 32);
  }
  if (i < elements.size()) elements[i] = element(rng.next());
  return tensor;
}

float fan_in_radius(int64_t fan_in, double gain) {
  return static_cast<float>(std::sqrt(3 * gain / static_cast<double>(fan_in)));
}

}  // namespace isomer
