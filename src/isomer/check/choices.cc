#include "isomer/check/choices.h"

#include <numeric>

namespace isomer {

std::vector<size_t> ChoiceBudget::order(size_t n) {
  std::vector<size_t> out(n);
  std::iota(out.begin(), out.end(), 0);
  if (bounds_.sample == 0) return out;
  for (size_t i = n; i > 1; --i) std::swap(out[i - 1], out[rng_.below(i)]);
  if (out.size() > kSampleWidth) out.resize(kSampleWidth);
  return out;
}

}  // namespace isomer
