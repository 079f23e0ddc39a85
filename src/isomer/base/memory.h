#pragma once
// The memory use of the process.

#include <cstdint>

namespace isomer {

/// The peak resident memory of this process so far, in bytes.
int64_t peak_rss_bytes();

}  // namespace isomer
