#pragma once
// The caches of the processor.

#include <cstddef>
#include <cstdint>
#include <span>

namespace isomer::onednn {

/// Returns the bytes of the second level of cache that one core has; at least 256 KiB, also if the system does not say.
int64_t second_level_bytes();

/// Returns the bytes of the third level of cache, which all cores may share; at least 32 MiB, also if the system does
/// not say.
int64_t third_level_bytes();

/// Removes bytes from all caches.
void flush(std::span<const std::byte> bytes);

}  // namespace isomer::onednn
