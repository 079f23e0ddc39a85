#pragma once
// Nodes that only change where elements are read: the built-in runtime needs no kernel for them, except for pools of
// single elements in blocks.

#include <string_view>

#include "isomer/engine/onednn/forms.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// Returns whether a node only passes on its operand; plans are made without such nodes.
bool is_removed(const Node& node);
/// Returns the value that stands for `value` in a plan: the first one on the way up that no removed node makes.
ValueId remaining_value(const Graph& graph, ValueId value);

/// Returns whether a node is a pool whose windows are single elements: it takes every s-th one.
bool picks_elements(const Node& node);
/// Returns whether a node takes every s-th element along some axes: a split, a slice, or such a pool.
bool is_cut(const Node& node);
/// Returns whether a node is a reshape, transposition or cut, or only copies.
bool is_onednn_view(const Node& node);

/// Returns whether a cut takes whole blocks of the channels of one image, and leaves them in their blocks;
/// `form` is the operand's.
bool cuts_blocks(const Graph& graph, const Node& node, onednn::Form form);

}  // namespace isomer
