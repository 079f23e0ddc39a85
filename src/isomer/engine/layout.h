#pragma once
// How values lie in memory between kernels.

#include <cstdint>
#include <vector>

namespace isomer {

/// How a value lies in memory between two kernels, as far as it changes what a kernel costs.
enum class Layout : uint8_t { Plain, Blocked };

/// What surrounds a part of a larger graph: the layouts in which its inputs arrive and its outputs are wanted, in the
/// order of the graph's inputs and outputs. Empty: plain.
struct Boundary {
  std::vector<Layout> inputs = {};
  std::vector<Layout> outputs = {};
};

}  // namespace isomer
