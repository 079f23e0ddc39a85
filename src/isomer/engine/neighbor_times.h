#pragma once
// Measurements of how kernels on two cores slow each other down. More cores do so pair by pair.

#include <array>

#include "isomer/plan/neighbors.h"

namespace isomer {

/// The names of NeighborTimes, in their order, as profile databases have them.
inline constexpr std::array<const char*, 10> kNeighborTimes = {
    "computing",
    "computing, while a neighbor computes",
    "computing, while a neighbor reads memory",
    "reading 1 MiB of memory",
    "reading 1 MiB of memory, while a neighbor computes",
    "reading 1 MiB of memory, while a neighbor reads memory",
    "reading 1 MiB of the shared cache",
    "reading 1 MiB that the core wrote",
    "reading 1 MiB that another core wrote",
    "passing a cache line to another core",
};

/// Microseconds of one core.
using NeighborTimes = std::array<double, kNeighborTimes.size()>;

NeighborCosts to_costs(const NeighborTimes& times);

}  // namespace isomer
