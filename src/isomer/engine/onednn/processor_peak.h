#pragma once
// What the processor can do at most, which the speed of kernels is compared with. It is measured on the machine.

#include <vector>

#include "isomer/base/result.h"

namespace isomer {

/// The second or third level of caches, or memory.
struct MemoryLevel {
  const char* name = nullptr;
  double bytes = 0;             ///< that it holds, for all threads; infinite for memory
  double bytes_per_second = 0;  ///< that threads read together
};

struct ProcessorPeak {
  double flops_per_second = 0;      ///< multiplications and additions of f32 in registers, by the widest vectors
  std::vector<MemoryLevel> levels;  ///< from the smallest; the last one is memory
  /// Passing a cache line from one thread to another; 0 for one thread, or on one core. Virtual cores may share a cache
  /// at one time, and none at another: then it takes several times as long, and so do kernels with several threads.
  double line_seconds = 0;

  /// Returns the bytes per second of the smallest level that holds so many bytes.
  double bytes_per_second(double bytes) const;
};

/// Measures what so many threads reach together; takes about half a second and 256 MiB. Caches of which the system does
/// not tell the size are left out. An Error if OpenMP cannot give so many threads.
Result<ProcessorPeak> measured_peak(int threads);

}  // namespace isomer
