#pragma once
// Runs OpenVINO's CPU plugin through its Python package.

#include <memory>

#include "isomer/engine/engine.h"

namespace isomer {

/// Starts the worker. An Error names the Python that was tried and what it lacks.
Result<std::unique_ptr<Engine>> make_openvino_engine(const EngineOptions& options);

}  // namespace isomer
