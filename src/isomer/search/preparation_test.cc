#include "isomer/search/preparation.h"

#include "isomer/search/testing.h"

namespace isomer {
namespace {

constexpr std::string_view kScaledTwice = R"(
  input x: f32[2]
  a = f32[2]{seed 1}
  b = f32[2]{seed 2}
  s = Mul(x, a)
  y = Mul(s, b)
  return y)";
constexpr std::string_view kScaledOnce = R"(
  input x: f32[2]
  a = f32[2]{seed 1}
  b = f32[2]{seed 2}
  c = Mul(a, b)
  y = Mul(x, c)
  return y)";

/// What was found before an interrupt is still checked and folded, also if the interrupt comes during the check.
TEST(Preparation, GoesOnAfterAnInterrupt) {
  const Model model = make_model(parsed(kScaledTwice), "scaled", 17);
  const Graph found = parsed(kScaledOnce);
  bool asked_often = true;
  for (int looks = 0; asked_often; ++looks) {
    int asked = 0;
    bool begun = false;
    Preparation preparation(model);
    preparation.fold_until(Deadline::after(60, [&] { return begun && ++asked > looks; }));
    begun = true;
    const auto checked = preparation.refuse(preparation.refused_in(found));
    asked_often = asked > looks;
    EXPECT_TRUE(checked.has_value()) << checked.error().message;
    EXPECT_TRUE(preparation.refused().empty());
    const auto prepared = preparation.prepare(found);
    ASSERT_TRUE(prepared.has_value()) << prepared.error().message;
    EXPECT_LT(prepared->graph.nodes().size(), found.nodes().size());
    ASSERT_LT(looks, 1000);
  }
}

const Tensor* constant_of(const Graph& graph) {
  for (ValueId value = 0; value < graph.num_values(); ++value)
    if (const Tensor* data = graph.constant(value)) return data;
  return nullptr;
}

TEST(Preparation, FoldsAWeightOnceWhileAGraphHasIt) {
  const Model model = make_model(parsed(kScaledTwice), "scaled", 17);
  Preparation preparation(model);
  preparation.fold_until(Deadline::never());
  const Graph found = parsed(kScaledOnce);
  const Graph other = parsed(std::string(kScaledOnce) + ", c");
  const uint64_t weight = found.value_hash(3);
  std::optional<Candidate> first = *preparation.prepare(found);
  std::optional<Candidate> second = *preparation.prepare(other);
  EXPECT_NE(first->hash(), second->hash());
  ASSERT_NE(constant_of(first->graph), nullptr);
  ASSERT_NE(constant_of(second->graph), nullptr);
  EXPECT_EQ(constant_of(first->graph)->bytes().data(), constant_of(second->graph)->bytes().data());
  first.reset();
  EXPECT_EQ(preparation.folded(weight), *constant_of(second->graph));
  second.reset();
  EXPECT_TRUE(preparation.folded(weight).empty());
}

}  // namespace
}  // namespace isomer
