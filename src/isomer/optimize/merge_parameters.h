#pragma once
// Parameters of a training step that can be one: their products or convolutions read the same data. As one, they stay
// merged over the steps, together with their gradients and the optimizer's state, so that merging costs nothing at run
// time.

#include <optional>
#include <vector>

#include "isomer/ir/derivation.h"
#include "isomer/onnx/model.h"

namespace isomer {

/// A model with other inputs and outputs, and how they follow from the model's (certificate/merge_inputs.h).
struct MergedModel {
  Model model;
  std::vector<MergedInput> merged;
};

/// Returns the training step with all parameters merged that can be; nothing if there are none. A training step has an
/// output new/NAME for each input NAME whose value it replaces. Only inputs with defaults of known extents are merged.
/// Fails if the model's training information names such an input.
Result<std::optional<MergedModel>> merge_parameters(const Model& model);

}  // namespace isomer
