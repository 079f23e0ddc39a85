#pragma once
// The own runtime on oneDNN as an engine.

#include <memory>

#include "isomer/engine/engine.h"

namespace isomer {

/// `options.threads` threads; fails where the processor does not compute in `options.dtype`; `options.optimize` is
/// ignored, since a plan is always compiled for speed.
Result<std::unique_ptr<Engine>> make_onednn_engine(const EngineOptions& options);

}  // namespace isomer
