#pragma once
// The parameters of a model, as far as an ONNX file shows which of its initializers are parameters.

#include <span>
#include <string>
#include <vector>

#include "onnx-ml.pb.h"

namespace isomer {

/// Lists the parameters of a model (ImportOptions) among the inputs of its graph, so that import takes their
/// initializers for defaults. Models before IR version 4, whose inputs are also all constants, become models of
/// version 4 without the other initializers among their inputs. `scalars`: the names of parameters without axes.
/// `statistics`: also those of batch normalizations in inference form. Returns the names of the other real numbers
/// without axes that could be parameters.
std::vector<std::string> list_parameters(onnx::ModelProto& model, std::span<const std::string> scalars,
                                         bool statistics);

}  // namespace isomer
