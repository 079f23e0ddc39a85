#include "isomer/base/aligned_bytes.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace isomer {

AlignedBytes::AlignedBytes(size_t bytes) : size_(bytes) {
  const size_t unit = bytes >= kLargePage ? kLargePage : kAlignment;
  const size_t whole = std::max((bytes + unit - 1) / unit * unit, unit);
  data_ = {static_cast<std::byte*>(::operator new(whole, std::align_val_t(unit))), Free{unit}};
  // This is a request; a system without large pages uses small ones.
  if (unit == kLargePage) ::madvise(data_.get(), whole, MADV_HUGEPAGE);
}

void AlignedBytes::Free::operator()(std::byte* data) const { ::operator delete(data, std::align_val_t(alignment)); }

}  // namespace isomer
