#include "isomer/ops/positions.h"

#include <gmock/gmock.h>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

using ::testing::ElementsAre;

/// Returns the offsets of all operands at all positions, computed from the positions' numbers.
std::vector<std::vector<int64_t>> offsets_of(const std::vector<int64_t>& dims,
                                             const std::vector<std::vector<int64_t>>& strides) {
  int64_t total = 1;
  for (const int64_t dim : dims) total *= dim;
  std::vector<std::vector<int64_t>> out;
  for (int64_t n = 0; n < total; ++n) {
    std::vector<int64_t>& offsets = out.emplace_back(strides.size(), 0);
    int64_t left = n;
    for (size_t axis = dims.size(); axis-- > 0; left /= dims[axis])
      for (size_t s = 0; s < strides.size(); ++s) offsets[s] += left % dims[axis] * strides[s][axis];
  }
  return out;
}

std::vector<std::vector<int64_t>> visited(const std::vector<int64_t>& dims,
                                          const std::vector<std::vector<int64_t>>& strides) {
  std::vector<std::vector<int64_t>> out;
  for_each_position(dims, strides, [&](const int64_t* at) { out.emplace_back(at, at + strides.size()); });
  return out;
}

TEST(Positions, AreVisitedInRowMajorOrder) {
  Rng rng(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<int64_t> dims(rng.below(6));
    for (int64_t& dim : dims) dim = static_cast<int64_t>(rng.below(8) == 0 ? 0 : 1 + rng.below(4));
    std::vector<std::vector<int64_t>> strides(rng.below(4));
    for (auto& of_operand : strides) {
      std::vector<int64_t> operand(dims.begin() + static_cast<std::ptrdiff_t>(rng.below(dims.size() + 1)), dims.end());
      for (int64_t& dim : operand) dim = rng.below(3) == 0 ? 1 : dim;
      of_operand = broadcast_strides(operand, dims);
      if (!of_operand.empty() && rng.below(4) == 0) std::swap(of_operand.front(), of_operand.back());
    }
    ASSERT_EQ(visited(dims, strides), offsets_of(dims, strides)) << ::testing::PrintToString(dims);
  }
}

TEST(Positions, NeighbouringAxesAreMerged) {
  const Walk whole = Walk{{2, 3, 4}, {{12, 4, 1}, {12, 4, 1}}}.merged();
  EXPECT_THAT(whole.dims, ElementsAre(24));
  EXPECT_THAT(whole.strides, ElementsAre(ElementsAre(1), ElementsAre(1)));
  const Walk scaled = Walk{{8, 1, 3, 3}, {{9, 9, 3, 1}, {1, 0, 0, 0}}}.merged();
  EXPECT_THAT(scaled.dims, ElementsAre(8, 9));
  EXPECT_THAT(scaled.strides, ElementsAre(ElementsAre(9, 1), ElementsAre(1, 0)));
  const Walk transposed = Walk{{2, 3}, {{1, 2}}}.merged();
  EXPECT_THAT(transposed.dims, ElementsAre(2, 3));
  EXPECT_THAT((Walk{{}, {{}}}.merged().dims), ElementsAre(1));
  EXPECT_THAT((Walk{{int64_t{1} << 40, 0, int64_t{1} << 40}, {{0, 0, 0}}}.merged().dims), ElementsAre(0));
}

}  // namespace
}  // namespace isomer
