#pragma once
// OpenVINO's CPU plugin, through its Python package.

#include <memory>

#include "isomer/engine/engine.h"

namespace isomer {

/// Starts the worker. An Error says which Python was tried and what it lacks.
Result<std::unique_ptr<Engine>> make_openvino_engine(const EngineOptions& options);

}  // namespace isomer
