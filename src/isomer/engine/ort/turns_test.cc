#include "isomer/engine/ort/turns.h"

#include <gmock/gmock.h>

#include "isomer/ops/graph_testing.h"

namespace isomer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kMegabyte = 1 << 20;

std::vector<std::vector<size_t>> kernels_of(const std::vector<Turn>& turns) {
  std::vector<std::vector<size_t>> out;
  for (const Turn& turn : turns) out.push_back(turn.kernels);
  return out;
}

TEST(Turns, HaveKernelsOfOneDistance) {
  const std::vector<std::optional<KernelAccess>> kernels = {{{.distance = 64 * kMegabyte, .bytes = kMegabyte}},
                                                            {{.distance = 0, .bytes = 1000}},
                                                            std::nullopt,
                                                            {{.distance = 64 * kMegabyte, .bytes = kMegabyte}},
                                                            {{.distance = 4 * kMegabyte, .bytes = 1000}}};
  const std::vector<Turn> turns = pack_turns(kernels);
  EXPECT_THAT(kernels_of(turns), ElementsAre(ElementsAre(0, 3), ElementsAre(1, 4)));
  EXPECT_EQ(turns[0].evicted, 63 * kMegabyte) << "the other kernel evicts the rest";
  EXPECT_EQ(turns[1].evicted, 4 * kMegabyte - 1000);
  EXPECT_THAT(pack_turns({}), IsEmpty());
}

TEST(Turns, AccessNoMoreThanTheDistance) {
  const KernelAccess large{.distance = 8 * kMegabyte, .bytes = 3 * kMegabyte};
  const KernelAccess huge{.distance = 8 * kMegabyte, .bytes = 30 * kMegabyte};
  const std::vector<std::optional<KernelAccess>> kernels = {large, large, large, huge, large};
  const std::vector<Turn> turns = pack_turns(kernels);
  EXPECT_THAT(kernels_of(turns), ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3), ElementsAre(4)));
  EXPECT_EQ(turns[0].evicted, 5 * kMegabyte);
  EXPECT_EQ(turns[1].evicted, 8 * kMegabyte) << "nothing else is accessed";
  EXPECT_EQ(turns[2].evicted, 8 * kMegabyte);
}

TEST(Turns, CountOperandsTwice) {
  const KernelRun run{.graph = parsed("input x: f32[4,8]\nw = f32[8,2]{seed 1}\ny = MatMul(x, w)\nreturn y"),
                      .weights = {.distance = 5}};
  EXPECT_EQ(access_of(run).distance, 5);
  EXPECT_EQ(access_of(run).bytes, 4.0 * (2 * 32 + 16 + 8));
}

}  // namespace
}  // namespace isomer
