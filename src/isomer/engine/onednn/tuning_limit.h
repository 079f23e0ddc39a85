#pragma once
// How long a planning may measure.

#include "isomer/base/deadline.h"

namespace isomer::onednn {

struct TuningLimit {
  Deadline end = Deadline::never();
  bool exceeded = false;  ///< whether more would have had to be measured after the end
};

}  // namespace isomer::onednn
