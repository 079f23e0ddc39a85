#pragma once
// Decisions about how a graph is executed. What is not decided is left to the engine.

#include <map>
#include <optional>
#include <string_view>

#include "isomer/ir/graph.h"
#include "isomer/plan/layout.h"

namespace isomer {

/// How the kernel of a convolution computes.
enum class Algorithm : uint8_t {
  Direct,    ///< multiplies every weight, in the order that the engine prefers
  Winograd,  ///< transforms tiles, which takes fewer multiplications; in f32
};
std::string_view algorithm_name(Algorithm algorithm);
/// Nothing if there is no such algorithm.
std::optional<Algorithm> algorithm_from_name(std::string_view name);

/// How often a value is computed.
enum class Computation : uint8_t {
  Once,   ///< and kept until its last reader
  Twice,  ///< the second time for its late uses (see second_computations); its memory is free in between
};
std::string_view computation_name(Computation computation);
/// Nothing if there is no such word.
std::optional<Computation> computation_from_name(std::string_view name);

/// Side tables over the values of one graph. An engine that cannot obey a decision decides by itself, in its planner
/// and when it runs the graph.
struct Decisions {
  /// The layout of a value where kernels that run later read it. If its own kernel makes it in another layout, it is
  /// converted once. Has no effect on values within a kernel and on inputs.
  std::map<ValueId, Layout> layouts = {};
  /// The algorithm of the node that computes a value. Other nodes may be part of the same kernel.
  std::map<ValueId, Algorithm> algorithms = {};

  /// How often a value is computed. Has no effect on inputs, outputs, and values that depend only on constants.
  std::map<ValueId, Computation> computations = {};

  bool empty() const { return layouts.empty() && algorithms.empty() && computations.empty(); }
  std::optional<Layout> layout(ValueId value) const;
  std::optional<Algorithm> algorithm(ValueId value) const;
  friend bool operator==(const Decisions&, const Decisions&) = default;
};

}  // namespace isomer
