#pragma once
// Time limits for reference kernels.

#include "isomer/base/deadline.h"
#include "isomer/base/result.h"

namespace isomer {

/// During its lifetime, the kernels of this thread that report progress (products, convolutions) give up as soon as it
/// is clear that they cannot finish by `end`.
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
  /// `work` is the total, in any unit.
  explicit KernelProgress(double work) : work_(work) {}

  /// Adds completed work. Fails if, at the current pace, the rest will not finish by the end of the innermost
  /// KernelDeadline. Never fails without a KernelDeadline.
  Status add(double work);

 private:
  const Deadline::Clock::time_point begin_ = Deadline::Clock::now();
  const double work_;
  double done_ = 0;
};

}  // namespace isomer
