#pragma once
// Determines which nodes become one kernel: a convolution, product or element-wise operator with the element-wise nodes
// that follow it.

#include <dnnl.hpp>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "isomer/ir/graph.h"

namespace isomer::onednn {

/// Whether a graph is planned as it is, or will be made canonical first (canonical.h).
enum class Stage : uint8_t {
  Given,      ///< Extents may be unknown. Everything that depends only on constants will be a constant.
  Canonical,  ///< A plan computes exactly these nodes.
};

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
  ValueId added = kNoValue;  ///< if there is no function: the value that is added (of the same extents, or
                             ///< broadcast)
  float scale = 1;           ///< of the added value
  std::vector<NodeId> inner =
      {};  ///< nodes before `node` that are also part of the function, or that scale what is added
};

/// Returns whether a post is a batch normalization that will have been merged into the weights and the bias.
bool is_folded(const Post& post);

/// A node with the posts that follow it; or the last node of a loop (loop_nodes.h), or of the gradient of a max pool
/// (max_pool_gradient.h) or of a loss (loss_gradient.h), with the others.
struct Group {
  NodeId root = 0;
  std::vector<Post> posts = {};
  std::vector<NodeId> inner = {};  ///< the others, ascending
  NodeId last() const { return posts.empty() ? root : posts.back().node; }
};

/// Returns all nodes of a group.
std::vector<NodeId> nodes_of(const Group& group);

/// Groups every node that is not an input or constant into one group, or into several loops that each compute it.
/// Groups are in the order of their last nodes, so everything that a group reads is made by groups before it. If the
/// graph is not canonical yet, these are the groups that it will have: batch normalizations are posts of the
/// convolutions that they will be merged into, and a Gelu that is written out is one function. Nodes that make weights
/// are groups too. With `loops`, element-wise nodes that follow each other are joined to loops.
std::vector<Group> fuse(const Graph& graph, Stage stage, bool loops = true);

/// Returns the last group that reads each value; kReadAtEnd for outputs.
std::vector<size_t> last_readers(const Graph& graph, std::span<const Group> groups);
inline constexpr size_t kReadAtEnd = std::numeric_limits<size_t>::max();

/// Returns whether a value is f32 with known extents.
bool is_plannable(const Graph& graph, ValueId value);
/// Returns whether a value is f32 of known rank, so that it is plannable once its extents are known.
bool may_be_plannable(const Graph& graph, ValueId value);
/// The former of a canonical graph, the latter of another one.
bool is_plannable(const Graph& graph, ValueId value, Stage stage);
/// Returns whether a plan has a value's data before it runs. A weight that is too large to be folded is computed.
bool is_known(const Graph& graph, ValueId value, Stage stage);
/// Returns whether a node has ONNX's operator of this name.
bool is_named(const Node& node, std::string_view name);
/// Returns the maker of a value if it has this name, and nothing else reads the value; else nullptr.
const Node* inner_maker(const Graph& graph, ValueId value, std::string_view name);
/// Returns whether a value is f32, and all its elements are known to be 0.
bool are_zeros(const Graph& graph, ValueId value);

}  // namespace isomer::onednn
