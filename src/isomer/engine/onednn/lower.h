#pragma once
// Converts groups of nodes to kernels, one operator family per file. If oneDNN has no kernel for the group, each
// function returns false and emits nothing.

#include <functional>

#include "isomer/engine/onednn/builder.h"
#include "isomer/engine/onednn/own_posts.h"

namespace isomer::onednn {

struct Lowering {
  DType dtype = DType::Float;     ///< in which convolutions and products compute if they can
  std::vector<int> threads = {};  ///< of the kernels of each group (Kernel::group); if empty, the current number
  bool draft = false;             ///< the program is not to be run (Builder::finish)
};
/// Emits the kernels of the whole program, group by group.
Result<Program> lower(Candidate candidate, std::shared_ptr<Tuner> tuner, const Lowering& how);

Result<bool> lower_conv(Builder& builder, const Group& group);    // also transposed
Result<bool> lower_matmul(Builder& builder, const Group& group);  // and Gemm
Result<bool> lower_pool(Builder& builder, const Group& group);
Result<bool> lower_max_pool_gradient(Builder& builder, const Group& group);
Result<bool> lower_norm(Builder& builder, const Group& group);  // batch and layer normalization, softmax
Result<bool> lower_instance_norm(Builder& builder, const Group& group);
Result<bool> lower_lrn(Builder& builder, const Group& group);        // local response normalization
Result<bool> lower_recurrent(Builder& builder, const Group& group);  // RNN, GRU, LSTM
Result<bool> lower_prelu(Builder& builder, const Group& group);
Result<bool> lower_reduce(Builder& builder, const Group& group);
Result<bool> lower_resize(Builder& builder, const Group& group);
Result<bool> lower_gather(Builder& builder, const Group& group);
Result<bool> lower_scatter(Builder& builder, const Group& group);  // by coordinates
Result<bool> lower_one_hot(Builder& builder, const Group& group);
Result<bool> lower_loss(Builder& builder, const Group& group);
Result<bool> lower_loss_gradient(Builder& builder, const Group& group);
/// Any group that `is_loop` accepts, and others of element-wise nodes that loops can compute.
Result<bool> lower_loop(Builder& builder, const Group& group);
Result<bool> lower_expand(Builder& builder, const Group& group);
Result<bool> lower_pad(Builder& builder, const Group& group);
Result<bool> lower_eltwise(Builder& builder, const Group& group);
/// Sums and products with one number per channel.
Result<bool> lower_channelwise(Builder& builder, const Group& group);
Result<bool> lower_binary(Builder& builder, const Group& group);
Result<bool> lower_concat(Builder& builder, const Group& group);
Result<bool> lower_view(Builder& builder, const Group& group);  // reshapes, transposes, slices, splits
/// Any single node by its reference kernel.
Result<bool> lower_reference(Builder& builder, NodeId node);

// Shared by the families.

/// "Conv+Relu"
std::string group_name(const Graph& graph, const Group& group);
/// Returns whether a value is f32 with known extents, none of them 0.
bool is_dense(const Graph& graph, ValueId value);
bool is_reference(const char* implementation);
/// Returns the description that `make` creates with oneDNN; nothing if oneDNN rejects it.
template <class Make>
auto attempt(const Make& make) -> std::optional<decltype(make())> {
  try {
    auto made = make();
    if (!made) return std::nullopt;
    return made;
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

/// Posts as attributes of a primitive, and the values that they read.
struct PostOps {
  dnnl::primitive_attr attr;
  std::optional<ValueId> summed = std::nullopt;  ///< the value that must be in the result's place before the primitive
                                                 ///< runs
  struct Operand {
    int post = 0;  ///< its index
    ValueId value = kNoValue;
    Desc layout;
    float scale = 1;  ///< of the value
  };
  std::vector<Operand> operands = {};  ///< of posts that read another value
  std::string key = {};                ///< differs for posts with different latencies
};
/// Returns the attributes for some posts of a group, over a result that the primitive sees as `dims`. With `sum`, the
/// first value with the result's extents is added in place. Other values are added from where they are: in `layout` if
/// they have all elements, in row-major order if they are broadcast. Returns nothing if an operand cannot be broadcast
/// to `dims`.
std::optional<PostOps> make_posts(const Graph& graph, std::span<const Post> posts, const Dims& dims, const Desc& layout,
                                  bool sum);
/// Returns the posts for a kernel of our own that reads added values in the layout of its result; nothing if it cannot.
/// The values have no addresses yet.
std::optional<OwnPosts> own_posts(const PostOps& posts, const Desc& layout);
/// Returns the kernel that scales an operand of posts. Throws dnnl::error.
dnnl::primitive_desc_base scaling_of(const dnnl::engine& engine, const PostOps::Operand& operand);
/// Adds the arguments for the operands of posts. Emits kernels that scale them, which the primitive cannot do.
void add_post_arguments(Builder& builder, const PostOps& posts, std::vector<Argument>& arguments);
/// Returns where a primitive stores its result: over the summed operand, if there is one. That operand is copied first
/// if it is needed later or shares a buffer with one of the primitive's other arguments.
Location place_result(Builder& builder, const PostOps& posts, const Desc& layout, std::span<const Argument> arguments,
                      ValueId result);

}  // namespace isomer::onednn
