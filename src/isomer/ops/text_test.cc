#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

TensorType strings(Shape shape) { return {DType::String, std::move(shape)}; }

TEST(StringConcat, Broadcasts) {
  EXPECT_EQ(infer("StringConcat", {}, {strings({symbol("N"), 1}), strings({3})}), "string[N,3]");
  EXPECT_TRUE(refused("StringConcat", {}, {f32({3}), f32({3})}));
  const auto joined = run("StringConcat", {}, {Tensor::strings({2}, {"a", "b"}), Tensor::strings({1}, {"c"})});
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->front(), Tensor::strings({2}, {"ac", "bc"}));
}

TEST(StringSplit, FillsUpRows) {
  const auto parts = run("StringSplit", {{"delimiter", std::string("-")}}, {Tensor::strings({2}, {"a-b-", ""})}, 2);
  ASSERT_TRUE(parts);
  EXPECT_EQ((*parts)[0], Tensor::strings({2, 3}, {"a", "b", "", "", "", ""}));
  EXPECT_EQ((*parts)[1], Tensor::ints({2}, {3, 0}));
  const auto words = run("StringSplit", {{"maxsplit", int64_t{1}}}, {Tensor::strings({1}, {"  a  b c"})}, 2);
  ASSERT_TRUE(words);
  EXPECT_EQ((*words)[0], Tensor::strings({1, 2}, {"a", "b c"}));
  EXPECT_TRUE(refused("StringSplit", {{"maxsplit", int64_t{-1}}}, {strings({2})}));
}

TEST(StringNormalizer, DropsStopwords) {
  const Attrs attrs{{"case_change_action", std::string("UPPER")}, {"stopwords", Strings{"the"}}};
  const auto kept = run("StringNormalizer", attrs, {Tensor::strings({3}, {"The", "red", "fox"})});
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->front(), Tensor::strings({2}, {"RED", "FOX"}));
  EXPECT_TRUE(refused("StringNormalizer", {}, {strings({2, 3})}));
  EXPECT_TRUE(refused("StringNormalizer", {{"case_change_action", std::string("lower")}}, {strings({3})}));
}

}  // namespace
}  // namespace isomer::testing
