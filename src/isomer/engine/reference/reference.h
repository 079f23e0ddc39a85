#pragma once
// The reference executor as an engine: slow, and right.

#include <memory>

#include "isomer/engine/engine.h"

namespace isomer {

Result<std::unique_ptr<Engine>> make_reference_engine(const EngineOptions& options);

}  // namespace isomer
