#include "isomer/discover/discover.h"

#include <gmock/gmock.h>

#include "isomer/discover/builtin.h"

namespace isomer {
namespace {

using testing::Contains;

std::vector<std::string> texts(const Discovery& discovery, const Universe& universe) {
  std::vector<std::string> out;
  for (const TermPair& pair : discovery.equalities) out.push_back(pair_text(pair, universe));
  return out;
}

TEST(Discover, FindsTheLawsOfMatrices) {
  const std::vector<Universe> variants = load_universe("matrix").value();
  const Discovery found = discover(variants, {.enumerate = {.max_nodes = 3}}).value();
  const auto laws = texts(found, variants[0]);
  EXPECT_THAT(laws, Contains("(Add (Add ?a ?b) ?c) = (Add ?a (Add ?b ?c))"));
  EXPECT_THAT(laws, Contains("(MatMul (MatMul ?a ?b) ?c) = (MatMul ?a (MatMul ?b ?c))"));
  EXPECT_THAT(laws, Contains("(Add (MatMul ?a ?b) (MatMul ?a ?c)) = (MatMul ?a (Add ?b ?c))"));
  EXPECT_THAT(laws, Contains("(Transpose perm=[1, 0] (Transpose perm=[1, 0] ?a)) = ?a"));
  EXPECT_THAT(laws, Contains("(Concat axis=1 (MatMul ?a ?b) (MatMul ?a ?c)) = (MatMul ?a (Concat axis=1 ?b ?c))"));
  EXPECT_THAT(laws,
              Contains("(MatMul (Concat axis=1 ?a ?b) (Concat axis=0 ?c ?d)) = (Add (MatMul ?a ?c) (MatMul ?b ?d))"));
}

TEST(Discover, FindsTheLawsOfConvolutions) {
  const std::vector<Universe> variants = load_universe("convolution").value();
  const Discovery found = discover(variants, {.enumerate = {.max_nodes = 2}}).value();
  const auto laws = texts(found, variants[0]);
  EXPECT_THAT(laws, Contains(testing::StartsWith("(AveragePool ")));
  size_t enlarged = 0;
  for (const std::string& law : laws)
    enlarged += law.find("(Pad ") != std::string::npos && law.starts_with("(Conv") ? 1 : 0;
  EXPECT_GT(enlarged, 0U) << "a 1x1 convolution is a 3x3 one with an enlarged kernel";
}

// In a universe of one size, equalities may hold by accident: for example, because two extents happen to be equal.
TEST(Discover, TriesWhatItFindsInOtherSizes) {
  constexpr const char* kText = R"(
let N = 2, 3
inputs ?a ?b [N]
operator (Add ?x ?y)
operator (Mul 2.0 ?x)
operator (ReduceSum axes=[0] keepdims=1 ?x)
operator (ReduceMean axes=[0] keepdims=1 ?x)
)";
  std::vector<Universe> variants;
  for (size_t i = 0; i < 2; ++i) variants.push_back(parse_universe(kText, i).value());
  const auto one = texts(discover(std::span(variants).first(1), {.enumerate = {.max_nodes = 2}}).value(), variants[0]);
  const auto both = texts(discover(variants, {.enumerate = {.max_nodes = 2}}).value(), variants[0]);
  const auto is_accident = [](const std::string& law) {
    return law.find("(Mul 2.0 (ReduceMean") != std::string::npos && law.find("ReduceSum") != std::string::npos;
  };
  EXPECT_TRUE(std::ranges::any_of(one, is_accident)) << "twice the mean of two numbers is their sum";
  EXPECT_FALSE(std::ranges::any_of(both, is_accident));
}

// Any equality of two small graphs must follow from the equalities that are kept.
TEST(Discover, PruningLosesNothing) {
  for (const char* name : {"matrix", "convolution"}) {
    const std::vector<Universe> variants = load_universe(name).value();
    const Discovery found = discover(variants, {.enumerate = {.max_nodes = 2}}).value();
    TermBank bank = TermBank::make(variants[0]).value();
    TermBank other = TermBank::make(variants[1]).value();
    Enumeration enumeration(bank, {.max_nodes = 2});
    enumeration.run();
    const InputKinds kinds(variants);
    const PairContext here{bank.types(), kinds, 0};
    const PairContext there{other.types(), kinds, 1};
    EqualityBase base(variants[0]);
    for (const TermPair& pair : found.equalities) base.add(pair);
    constexpr uint64_t kSeeds[] = {31, 32, 33};
    size_t tried = 0;
    for (const EqualTerms& terms : enumeration.equal()) {
      const TermPair pair = expand(bank, terms);
      if (!holds(pair, here, kSeeds) || !holds(pair, there, kSeeds)) continue;
      ++tried;
      EXPECT_TRUE(base.derives(pair, here, {.rounds = 8, .nodes = 3000})) << pair_text(pair, variants[0]);
    }
    EXPECT_GT(tried, 50U);
  }
}

TEST(Discover, GivesTheSameAtAnyNumberOfThreads) {
  const std::vector<Universe> variants = load_universe("convolution").value();
  const auto with_threads = [&](int threads) {
    return texts(discover(variants, {.enumerate = {.max_nodes = 2, .threads = threads}}).value(), variants[0]);
  };
  EXPECT_EQ(with_threads(1), with_threads(3));
}

// Making rules takes most of the time.
TEST(Discover, TellsOfEachEqualityWhoseRulesAreMade) {
  const std::vector<Universe> variants = {parse_universe("let N = 2\ninputs ?a [N]\noperator (Relu ?x)\n", 0).value()};
  std::vector<std::string> told;
  DiscoverOptions options = {.enumerate = {.max_nodes = 2}, .make_rules = true};
  options.progress = [&](const std::string& text) { told.push_back(text); };
  const Discovery found = discover(variants, options).value();
  ASSERT_EQ(found.equalities.size(), 1U) << "relu(relu(a)) = relu(a)";
  EXPECT_THAT(told, testing::IsSupersetOf({"making rules: 0 of 1 equalities", "making rules: 1 of 1 equalities"}));
}

}  // namespace
}  // namespace isomer
