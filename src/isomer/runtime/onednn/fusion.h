#pragma once
// Which nodes become one kernel: a convolution, product or element-wise operator with what follows it element by
// element.

#include <dnnl.hpp>
#include <optional>
#include <vector>

#include "isomer/ir/graph.h"

namespace isomer::onednn {

/// An element-wise function as oneDNN has it.
struct Eltwise {
  dnnl::algorithm algorithm = dnnl::algorithm::undef;
  float alpha = 0;
  float beta = 0;
};

/// The element-wise function of `operand` that a node computes, where the rest of its operands are constant scalars.
std::optional<Eltwise> eltwise_of(const Graph& graph, const Node& node, ValueId operand);
/// As above, for the only operand of the node that is not a constant.
struct Unary {
  ValueId operand = kNoValue;
  Eltwise function;
};
std::optional<Unary> unary_of(const Graph& graph, const Node& node);

/// What is done to each element of a kernel's result before it is stored.
struct Post {
  NodeId node = 0;
  std::optional<Eltwise> function = std::nullopt;
  ValueId added = kNoValue;        ///< where there is no function: what is added (of the same extents, or broadcast)
  std::vector<NodeId> inner = {};  ///< nodes before `node` that are part of the function, too
};

/// A node with the posts that follow it.
struct Group {
  NodeId root = 0;
  std::vector<Post> posts = {};
  NodeId last() const { return posts.empty() ? root : posts.back().node; }
};

/// Every node that is no input or constant, in exactly one group; groups in the order of their last nodes, so that
/// everything that a group reads is made by groups before it.
std::vector<Group> fuse(const Graph& graph);

/// The same for a graph that is not canonical yet, as far as its groups will be: batch normalizations are posts of the
/// convolutions that they will go into, and a Gelu written out is one function. Weights count as constants; nodes that
/// make them are groups, too. Extents need not be known.
std::vector<Group> fuse_ahead(const Graph& graph);

/// Whether a value is f32 with known extents.
bool is_plannable(const Graph& graph, ValueId value);
/// Whether it is f32 of known rank, and so will be plannable once its extents are known.
bool may_be_plannable(const Graph& graph, ValueId value);

}  // namespace isomer::onednn
