#pragma once
// Memory layouts of values between kernels.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace isomer {

/// The memory layout of a value between two kernels, as far as it changes what a kernel costs.
enum class Layout : uint8_t { Plain, Blocked };
std::string_view layout_name(Layout layout);
/// Nothing if there is no such layout.
std::optional<Layout> layout_from_name(std::string_view name);

/// The surroundings of a part of a larger graph: the layouts in which its inputs arrive and its outputs are wanted, in
/// the order of the graph's inputs and outputs. Empty: plain.
struct Boundary {
  std::vector<Layout> inputs = {};
  std::vector<Layout> outputs = {};
};

}  // namespace isomer
