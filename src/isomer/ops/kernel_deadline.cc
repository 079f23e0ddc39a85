#include "isomer/ops/kernel_deadline.h"

namespace isomer {
namespace {

thread_local const KernelDeadline* innermost = nullptr;

/// Seconds before which the pace is not reliable.
constexpr double kMinSpent = 0.1;

}  // namespace

KernelDeadline::KernelDeadline(const Deadline& end) : end_(end), outer_(innermost) { innermost = this; }

KernelDeadline::~KernelDeadline() { innermost = outer_; }

Status KernelProgress::add(double work) {
  done_ += work;
  if (innermost == nullptr || done_ >= work_) return {};
  const double spent = std::chrono::duration<double>(Deadline::Clock::now() - begin_).count();
  const double rest = spent < kMinSpent ? 0 : spent * (work_ - done_) / done_;
  if (innermost->end_.precludes(rest)) return fail("there is no time left to compute it");
  return {};
}

}  // namespace isomer
