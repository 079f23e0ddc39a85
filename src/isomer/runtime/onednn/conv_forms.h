#pragma once
// Which layouts the runtime's convolutions take and make, for a planner that compiles nothing.

#include <memory>
#include <span>
#include <vector>

#include "isomer/runtime/onednn/fusion.h"

namespace isomer::onednn {

/// How the elements of a value lie, as far as kernels tell it apart: a number of channels that are neighbours in a
/// block, or one of these.
using Form = int64_t;
inline constexpr Form kPlainForm = 1;     ///< row-major
inline constexpr Form kLastForm = 0;      ///< channels innermost
inline constexpr Form kStridedForm = -1;  ///< a view with gaps, or in another order

/// One way to compute a convolution.
struct ConvForm {
  Form src = kPlainForm;
  Form dst = kPlainForm;
  bool sums = false;  ///< the first value of the result's extents that is added must lie in the result's place
};

/// Asks oneDNN, once for each convolution with its posts; may serve several threads.
class ConvForms {
 public:
  ConvForms();
  ~ConvForms();
  ConvForms(const ConvForms&) = delete;
  ConvForms& operator=(const ConvForms&) = delete;

  /// The ways that lower_conv considers in f32 and without measuring, in its order; none where the runtime has no
  /// kernel or extents are not known. `group` is one of fuse_ahead.
  std::span<const ConvForm> of(const Graph& graph, const Group& group);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isomer::onednn
