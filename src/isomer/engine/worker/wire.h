#pragma once
// Tensors in messages; the form is described in worker.py.

#include <span>

#include "isomer/engine/engine.h"
#include "isomer/engine/worker/child.h"

namespace isomer {

/// The specs of tensors (a JSON list); appends their elements to `payload`.
nlohmann::json encode_tensors(std::span<const NamedTensor> tensors, std::string& payload);

/// The tensors of specs. An Error when specs and payload do not fit each other.
Result<std::vector<Tensor>> decode_tensors(const nlohmann::json& specs, const std::string& payload);

}  // namespace isomer
