#pragma once
// Inputs of a training step that become one, with the outputs that are their values in the next run.

#include <span>
#include <vector>

#include "isomer/certificate/certificate.h"
#include "isomer/onnx/model.h"

namespace isomer::replay {

/// Returns the model in which the parts of each merged input are one input: the step splits it, computes what it
/// computed, and joins the new parts. The merged input and output are where the first of the parts was; the default of
/// the input is those of the parts, joined.
///
/// Why both models compute the same in every run (by induction over the runs): let P be the parts, joined, of one run.
/// The merged step splits P into the parts, so all outputs that are not parts are the same, and its joined output is
/// the new parts, joined. If the next run gets each output new/NAME of this one as its input NAME, this holds for it
/// too; and the first runs have the same defaults.
///
/// Fails if a part is not an input with a default and known extents, if it has no new value of the same type, if a name
/// occurs twice, or if parts cannot be joined.
Result<Model> merge_inputs(const Model& model, std::span<const MergedInput> merged);

/// Returns the outputs of the merged model, from those of the model that merge_inputs was called with.
Result<std::vector<Tensor>> merge_outputs(const Model& model, std::span<const MergedInput> merged,
                                          std::span<const Tensor> outputs);

}  // namespace isomer::replay
