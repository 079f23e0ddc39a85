#pragma once
// Seeded weights.

#include <cstdint>
#include <string_view>
#include <vector>

#include "isomer/ir/tensor.h"

namespace isomer {

/// Floats drawn uniformly from [center - radius, center + radius). The same name and seed give the same floats on every
/// machine, independently of the rest of the network.
Tensor seeded_weight(std::string_view name, const std::vector<int64_t>& dims, float center, float radius,
                     uint64_t seed);

/// The radius with which the output of a layer that sums `fan_in` products has a variance of `gain` times the mean
/// square of its input. A gain of 2 compensates for a relu after the layer.
float fan_in_radius(int64_t fan_in, double gain);

}  // namespace isomer
