#pragma once
// Walks over the elements of tensors in row-major order.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isomer {

/// Row-major strides in elements.
std::vector<int64_t> strides_of(const std::vector<int64_t>& dims);
/// Strides for reading an operand with the broadcast extents `dims` (0 along broadcast axes).
std::vector<int64_t> broadcast_strides(const std::vector<int64_t>& operand, const std::vector<int64_t>& dims);

/// Extents, and strides of several operands for them.
struct Walk {
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> strides;  ///< by operand

  /// Returns the walk over the same positions with as few axes as possible, at least one: neighbouring axes are one if
  /// every operand passes from one to the other with the same stride.
  Walk merged() const;
};

/// Calls `visit(const int64_t* offsets, int64_t count, const int64_t* steps)` for all rows of a walk in order. A row is
/// `count` positions; operand s begins at offsets[s] and proceeds by steps[s].
template <class F>
void for_each_row(const Walk& positions, F&& visit) {
  const Walk walk = positions.merged();
  const size_t last = walk.dims.size() - 1;
  const int64_t count = walk.dims[last];
  std::vector<int64_t> steps;
  for (const auto& strides : walk.strides) steps.push_back(strides[last]);
  int64_t rows = count == 0 ? 0 : 1;
  for (size_t axis = 0; axis < last; ++axis) rows *= walk.dims[axis];
  std::vector<int64_t> position(last, 0);
  std::vector<int64_t> offsets(steps.size(), 0);
  for (int64_t row = 0; row < rows; ++row) {
    visit(static_cast<const int64_t*>(offsets.data()), count, static_cast<const int64_t*>(steps.data()));
    for (size_t axis = last; axis-- > 0;) {
      ++position[axis];
      for (size_t s = 0; s < steps.size(); ++s) offsets[s] += walk.strides[s][axis];
      if (position[axis] < walk.dims[axis]) break;
      for (size_t s = 0; s < steps.size(); ++s) offsets[s] -= walk.strides[s][axis] * walk.dims[axis];
      position[axis] = 0;
    }
  }
}

/// Calls `visit(const int64_t* offsets)` for all positions of `dims` in row-major order, with one offset per stride
/// vector.
template <class F>
void for_each_position(const std::vector<int64_t>& dims, const std::vector<std::vector<int64_t>>& strides, F&& visit) {
  std::vector<int64_t> at(strides.size());
  for_each_row({dims, strides}, [&](const int64_t* offsets, int64_t count, const int64_t* steps) {
    for (size_t s = 0; s < at.size(); ++s) at[s] = offsets[s];
    for (int64_t n = 0; n < count; ++n) {
      visit(static_cast<const int64_t*>(at.data()));
      for (size_t s = 0; s < at.size(); ++s) at[s] += steps[s];
    }
  });
}

}  // namespace isomer
