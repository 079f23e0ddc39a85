#pragma once
// Properties of an operator's kernel. Fusion, the placement of concatenations and the planner use them.

#include "isomer/ir/graph.h"

namespace isomer::onednn {

/// The layouts in which a kernel reads its operands and writes its result.
enum class LayoutUse : uint8_t {
  Plain,       ///< Row-major.
  Chosen,      ///< OneDNN chooses it for the problem.
  Window,      ///< The layout of the image, whose extents may differ from the result's.
  Operands,    ///< The layout of the operands with the result's extents; if there are several, a blocked one.
  FirstOfAll,  ///< Like Operands, but the first operand's if there are several.
  OneImage,    ///< Like Operands, for one image; row-major for several images.
  Reduction,   ///< Reads any contiguous layout if all spatial axes are reduced; writes row-major.
  Padding,     ///< Reads and writes any contiguous layout if the channels are unchanged.
  Factors,     ///< Matrices whose rows or columns are contiguous; writes in the order of a transposition that follows.
  AlongAxis,   ///< The elements along its axis must be adjacent.
};

/// What a kernel can apply to its result before it is stored.
enum class Posts : uint8_t {
  None,
  Relu,       ///< one relu
  Functions,  ///< functions of each element
  Sums,       ///< functions of each element, and sums with another value
};

/// Whether a kernel is faster on channels in blocks.
enum class Blocks : uint8_t {
  Indifferent,
  Passed,     ///< if the kernel that makes its first operand is faster so
  Preferred,  ///< always
};

struct KernelTraits {
  LayoutUse layouts = LayoutUse::Plain;
  Posts posts = Posts::None;
  Blocks blocks = Blocks::Indifferent;
  /// The kernel writes blocked results only if the channels fill their blocks; else row-major ones.
  bool fills_blocks = false;
  /// The kernel does not read strided operands, unless that is planned for it: they are copied.
  bool one_piece = false;
};

/// Returns the traits of the kernel for a node; the default for nodes without a kernel.
const KernelTraits& kernel_traits(const Node& node);

}  // namespace isomer::onednn
