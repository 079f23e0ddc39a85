#pragma once
// How long a reference kernel may take.

#include "isomer/base/deadline.h"
#include "isomer/base/result.h"

namespace isomer {

/// While one lives, the kernels of this thread that report their progress (products, convolutions) give up as soon as
/// they see that they would not be done by `end`.
class KernelDeadline {
 public:
  explicit KernelDeadline(const Deadline& end);
  ~KernelDeadline();
  KernelDeadline(const KernelDeadline&) = delete;
  KernelDeadline& operator=(const KernelDeadline&) = delete;

 private:
  friend class KernelProgress;
  const Deadline end_;
  const KernelDeadline* const outer_;
};

/// The progress of one run of a kernel.
class KernelProgress {
 public:
  /// `work` in any unit.
  explicit KernelProgress(double work) : work_(work) {}

  /// Adds to what is done. Fails where the rest, at the pace so far, would not be done by the end of the innermost
  /// KernelDeadline; never without one.
  Status add(double work);

 private:
  const Deadline::Clock::time_point begin_ = Deadline::Clock::now();
  const double work_;
  double done_ = 0;
};

}  // namespace isomer
