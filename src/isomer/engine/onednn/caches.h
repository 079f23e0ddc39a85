#pragma once
// The caches of the processor.

#include <cstdint>

namespace isomer::onednn {

/// Returns the bytes of the second level of cache that one core has; at least 256 KiB, also if the system does not say.
int64_t second_level_bytes();

}  // namespace isomer::onednn
