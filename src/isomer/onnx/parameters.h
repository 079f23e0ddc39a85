#pragma once
// The parameters of a model, as far as an ONNX file shows which of its initializers are parameters.

#include "onnx-ml.pb.h"

namespace isomer {

/// Lists the parameters of a model (ImportOptions) among the inputs of its graph, so that import takes their
/// initializers for defaults. Models before IR version 4, whose inputs are also all constants, become models of
/// version 4 without the other initializers among their inputs. `statistics`: also those of batch normalizations in
/// inference form.
void list_parameters(onnx::ModelProto& model, bool statistics);

}  // namespace isomer
