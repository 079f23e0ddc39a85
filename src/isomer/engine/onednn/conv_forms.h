#pragma once
// Which layouts the runtime's convolutions read and write, for a planner that compiles nothing.

#include <memory>
#include <span>
#include <vector>

#include "isomer/engine/onednn/forms.h"
#include "isomer/engine/onednn/fusion.h"
#include "isomer/plan/decisions.h"

namespace isomer::onednn {

/// One way to compute a convolution.
struct ConvForm {
  Form src = kPlainForm;
  Form dst = kPlainForm;
  bool winograd = false;
  bool sums = false;  ///< the first added value with the result's extents must be in the result's place
};

/// Asks oneDNN once for each convolution with its posts. Thread-safe.
class ConvForms {
 public:
  ConvForms();
  ~ConvForms();
  ConvForms(const ConvForms&) = delete;
  ConvForms& operator=(const ConvForms&) = delete;

  /// Returns the ways that lower_conv considers in f32 and without measuring, in its order; none if the runtime has no
  /// kernel or extents are unknown. `group` may contain batch normalizations that will be merged. Decisions about the
  /// convolution's algorithm and about the layout of the group's result are obeyed.
  std::span<const ConvForm> of(const Graph& graph, const Group& group, const Decisions& decisions);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isomer::onednn
