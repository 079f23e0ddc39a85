#pragma once
// Which nodes loops compute, and with which steps.

#include <optional>
#include <span>
#include <vector>

#include "isomer/engine/onednn/fusion.h"
#include "isomer/engine/onednn/loop.h"

namespace isomer::onednn {

/// The register of a node's result in its steps. The others are its operands, by their numbers.
inline constexpr uint8_t kLoopResult = 255;

/// Returns the steps of an element-wise node whose numbers are f32 of known rank; nothing if loops have none for it.
std::optional<std::vector<LoopStep>> node_steps(const Graph& graph, const Node& node);

/// Returns whether a step takes about as long as reading an element.
bool is_fast(LoopOp op);

/// A sum at the end of a loop.
struct LoopReduction {
  std::optional<LoopOp> first = std::nullopt;  ///< of each element
  bool mean = false;
  bool root = false;
  std::vector<bool> axes = {};  ///< of the elements: whether they are summed
};
/// Returns how a node sums its first operand; nothing if it is not a sum.
std::optional<LoopReduction> node_reduction(const Graph& graph, const Node& node);
/// Returns whether all axes but that of the channels are summed.
bool keeps_only_channels(const LoopReduction& reduction);

/// Returns the value whose elements the loop of a group computes: its result, or what that sums.
ValueId loop_domain(const Graph& graph, const Group& group);

/// Returns the values that the loop of a group reads, each once.
std::vector<ValueId> loop_operands(const Graph& graph, const Group& group);

/// Returns whether the loop of a group, with these operands, can compute all channels of a block, or of a pixel, at a
/// time: its domain has channels, a sum over it is row-major, and conditions are only within the loop.
bool loops_over_blocks(const Graph& graph, const Group& group, std::span<const ValueId> operands);

/// Returns whether a loop computes a group: it has inner nodes, or is one that no other kernel computes.
bool is_loop(const Graph& graph, const Group& group);

}  // namespace isomer::onednn
