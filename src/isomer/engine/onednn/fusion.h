#pragma once
// Determines which nodes become one kernel: a convolution, product or element-wise operator with the element-wise nodes
// that follow it.

#include <dnnl.hpp>
#include <optional>
#include <vector>

#include "isomer/ir/graph.h"

namespace isomer::onednn {

/// An element-wise function in oneDNN's terms.
struct Eltwise {
  dnnl::algorithm algorithm = dnnl::algorithm::undef;
  float alpha = 0;
  float beta = 0;
};

/// Returns whether oneDNN knows that f(0) is 0, so that the zeros that pad blocks stay as they are.
bool preserves_zero(const Eltwise& function);

/// Returns the element-wise function of `operand` that a node computes, if the rest of its operands are constant
/// scalars.
std::optional<Eltwise> eltwise_of(const Graph& graph, const Node& node, ValueId operand);
/// Likewise, for the only operand of the node that is not a constant.
struct Unary {
  ValueId operand = kNoValue;
  Eltwise function;
};
std::optional<Unary> unary_of(const Graph& graph, const Node& node);

/// A step that is applied to each element of a kernel's result before it is stored.
struct Post {
  NodeId node = 0;
  std::optional<Eltwise> function = std::nullopt;
  ValueId added = kNoValue;        ///< if there is no function: the value that is added (of the same extents, or
                                   ///< broadcast)
  std::vector<NodeId> inner = {};  ///< nodes before `node` that are also part of the function
};

/// A node with the posts that follow it.
struct Group {
  NodeId root = 0;
  std::vector<Post> posts = {};
  NodeId last() const { return posts.empty() ? root : posts.back().node; }
};

/// Groups every node that is not an input or constant into exactly one group. Groups are in the order of their last
/// nodes, so everything that a group reads is made by groups before it.
std::vector<Group> fuse(const Graph& graph);

/// Predicts these groups for a graph that is not canonical yet: batch normalizations are posts of the convolutions that
/// they will be merged into, and a Gelu that is written out is one function. Weights count as constants; nodes that
/// make them are groups too. Extents may be unknown.
std::vector<Group> fuse_ahead(const Graph& graph);

/// Returns whether a value is f32 with known extents.
bool is_plannable(const Graph& graph, ValueId value);
/// Returns whether a value is f32 of known rank, so that it is plannable once its extents are known.
bool may_be_plannable(const Graph& graph, ValueId value);

}  // namespace isomer::onednn
