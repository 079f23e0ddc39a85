#pragma once
// The built-in runtime as an engine; it uses oneDNN.

#include <memory>

#include "isomer/engine/engine.h"

namespace isomer {

/// Makes an engine with `options.threads` threads. Fails if the processor does not compute in `options.dtype`.
/// `options.optimize` is ignored, since a plan is always compiled for speed.
Result<std::unique_ptr<Engine>> make_onednn_engine(const EngineOptions& options);

}  // namespace isomer
