#pragma once
// Seeded weights.

#include <cstdint>
#include <string_view>
#include <vector>

#include "isomer/ir/tensor.h"

namespace isomer {

/// Floats drawn uniformly from [center - radius, center + radius): the same for the same name and seed on every
/// machine, whatever else the network has.
Tensor seeded_weight(std::string_view name, const std::vector<int64_t>& dims, float center, float radius,
                     uint64_t seed);

/// The radius at which a layer that sums `fan_in` products makes an output of variance `gain` times the mean square of
/// its input. A gain of 2 makes up for a relu behind the layer.
float fan_in_radius(int64_t fan_in, double gain);

}  // namespace isomer
