#pragma once
// Ranges of indices, and how they are divided.

#include <algorithm>
#include <cstdint>

namespace isomer::onednn {

constexpr int64_t divided_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t rounded_up(int64_t a, int64_t b) { return divided_up(a, b) * b; }

struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  /// Returns a part of this range, [begin, end); the bounds between parts are multiples of `unit` from the beginning.
  Range part(int64_t index, int64_t parts, int64_t unit) const {
    const int64_t units = divided_up(size(), unit);
    return {begin + std::min(units * index / parts * unit, size()),
            begin + std::min(units * (index + 1) / parts * unit, size())};
  }
};

}  // namespace isomer::onednn
