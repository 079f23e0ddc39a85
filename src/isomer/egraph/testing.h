#pragma once
// Helpers for the tests of e-graphs.

#include <cstdint>

namespace isomer {

// Labels of e-nodes: constants are below 100, functions from 100 on.
constexpr uint32_t kF = 100;
constexpr uint32_t kG = 101;

}  // namespace isomer
