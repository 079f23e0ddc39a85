#pragma once
// Tensors in messages; worker.py describes the format.

#include <span>

#include "isomer/engine/engine.h"
#include "isomer/engine/worker/child.h"

namespace isomer {

/// Returns the specs of tensors (a JSON list) and appends their elements to `payload`.
nlohmann::json encode_tensors(std::span<const NamedTensor> tensors, std::string& payload);

/// Returns the tensors of specs. An Error if specs and payload do not match.
Result<std::vector<Tensor>> decode_tensors(const nlohmann::json& specs, const std::string& payload);

}  // namespace isomer
