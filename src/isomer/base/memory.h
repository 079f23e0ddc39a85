#pragma once
// How much memory the process takes.

#include <cstdint>

namespace isomer {

/// The most resident memory that this process has held so far, in bytes.
int64_t peak_rss_bytes();

}  // namespace isomer
