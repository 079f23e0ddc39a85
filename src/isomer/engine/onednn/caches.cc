#include "isomer/engine/onednn/caches.h"

#include <unistd.h>

#include <algorithm>

namespace isomer::onednn {

int64_t second_level_bytes() {
  static const int64_t kBytes = std::max<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE), 256 << 10);
  return kBytes;
}

}  // namespace isomer::onednn
