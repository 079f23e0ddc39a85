#pragma once
// The kernels of a device that fuses: how the roofline model groups nodes.

#include <limits>
#include <span>
#include <vector>

#include "isomer/engine/kernels.h"
#include "isomer/ir/run_nodes.h"

namespace isomer {

/// The kernel that ends with a node, unless another node joins it.
struct KernelEnd {
  bool last = false;         ///< no other node has joined it; false for nodes in no kernel
  bool open = false;         ///< elementwise operators can join it
  bool reads_other = false;  ///< an elementwise operator in it reads a second value
  NodeId before = kNoNode;   ///< the node before this one in the kernel
  double flops = 0;

  static constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();
};

/// Groups the nodes that run, except views, into kernels. A kernel is a convolution, a matrix product or an elementwise
/// operator, followed by elementwise operators; or one other node. An elementwise operator joins the kernel that makes
/// one of its operands if
/// - nothing else reads this operand, the graph does not return it, and it has the type of the result;
/// - its other operands depend only on weights, except for at most one of the result's shape (as in a residual sum).
/// At most one elementwise operator of a kernel reads a second value that is not a weight. If an operator can join
/// several kernels, it joins the one with the most FLOPs: arithmetic is most likely to hide the second value's reads
/// there. `flops`: by node.
///
/// Equal graphs have equal kernels, whatever the order of their nodes. Kernels are in the order of their last nodes.
/// All values are plain.
KernelPlan fused_kernels(const Graph& graph, std::span<const double> flops);

/// Groups nodes in the same way.
class RunNodeFusion {
 public:
  /// Finds the kernels of these nodes, in the same order. `flops`: by node.
  void run(const RunNodes& nodes, std::span<const double> flops);

  size_t size() const { return begins_.size() - 1; }
  /// The numbers of a kernel's nodes, ascending.
  std::span<const uint32_t> kernel(size_t i) const {
    return {nodes_.data() + begins_[i], nodes_.data() + begins_[i + 1]};
  }

 private:
  std::vector<KernelEnd> ends_;
  std::vector<uint32_t> nodes_;
  std::vector<uint32_t> begins_;
};

}  // namespace isomer
