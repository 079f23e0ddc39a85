#pragma once
// The decisions in the file of a model, as the checker reads them. It shares no code with plan/stored_decisions.h,
// which reads them for engines.

#include "isomer/certificate/certificate.h"
#include "isomer/onnx/model.h"

namespace isomer::replay {

/// Returns the decisions in the model's metadata that are about values of its graph. An Error if they are malformed.
Result<NamedDecisions> decisions_of(const Model& model);

/// Fails, with the first difference, unless the decisions are exactly those of the model.
Status check_decisions(const NamedDecisions& stated, const Model& model);

}  // namespace isomer::replay
