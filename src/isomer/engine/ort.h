#pragma once
// ONNX Runtime, through its Python package, in a process of its own: a crash there ends no search, and the engine that
// is measured is the one that users have.

#include <memory>

#include "isomer/engine/engine.h"

namespace isomer {

/// Starts the worker. An Error says which Python was tried and what it lacks.
Result<std::unique_ptr<Engine>> make_ort_engine(const EngineOptions& options);

}  // namespace isomer
