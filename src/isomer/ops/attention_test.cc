#include <cmath>

#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

const Dim kB = symbol("B");
const Dim kS = symbol("S");

TEST(Attention, Infers) {
  const TensorType q = f32({kB, 6, kS, 8});
  const TensorType k = f32({kB, 2, kS, 8});
  const TensorType v = f32({kB, 2, kS, 5});
  EXPECT_EQ(infer("Attention", {}, {q, k, v}), "f32[B,6,S,5]");
  EXPECT_EQ(infer("Attention", {}, {q, k, v, TensorType(), f32({kB, 2, 3, 8}), f32({kB, 2, 3, 5})}, 4),
            "f32[B,6,S,5] f32[B,2,S+3,8] f32[B,2,S+3,5] f32[B,6,S,S+3]");
  const Attrs heads{{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}};
  EXPECT_EQ(infer("Attention", heads, {f32({kB, kS, 16}), f32({kB, 7, 8}), f32({kB, 7, 6})}), "f32[B,S,12]");
  EXPECT_TRUE(refused("Attention", {}, {f32({kB, kS, 16}), f32({kB, 7, 8}), f32({kB, 7, 6})}));
  EXPECT_TRUE(refused("Attention", {}, {q, f32({kB, 4, kS, 8}), v}));
  EXPECT_TRUE(refused("Attention", {}, {q, f32({kB, 2, kS, 7}), v}));
  EXPECT_TRUE(refused("Attention", {}, {q, k, v, TensorType(), f32({kB, 2, 3, 8})}));
  EXPECT_TRUE(refused("Attention", {}, {f32({1, 1, 2, 8}), f32({1, 1, 4, 8}), f32({1, 1, 4, 8}), f32({2, 5})}));
}

TEST(Attention, Values) {
  const Tensor q = Tensor::floats({1, 1, 2, 1}, {0, 0});
  const Tensor v = Tensor::floats({1, 1, 2, 1}, {2, 4});
  EXPECT_EQ(run_to<float>("Attention", {}, {q, q, v}), (std::vector<float>{3, 3}));
  EXPECT_EQ(run_to<float>("Attention", {{"is_causal", int64_t{1}}}, {q, q, v}), (std::vector<float>{2, 3}));
  // A row without visible keys is zero, and a mask that is too short hides the last keys.
  const Tensor mask = Tensor::of<uint8_t>(DType::Bool, {2, 2}, {0, 0, 0, 1});
  EXPECT_EQ(run_to<float>("Attention", {}, {q, q, v, mask}), (std::vector<float>{0, 4}));
  EXPECT_EQ(run_to<float>("Attention", {}, {q, q, v, Tensor::floats({2, 1}, {0, 0})}), (std::vector<float>{2, 2}));
}

TEST(Attention, GroupsShareKeys) {
  const Tensor q = Tensor::floats({1, 4, 1, 1}, {0, 0, 0, 0});
  const Tensor v = Tensor::floats({1, 2, 1, 1}, {5, 6});
  EXPECT_EQ(run_to<float>("Attention", {}, {q, v, v}), (std::vector<float>{5, 5, 6, 6}));
}

TEST(RotaryEmbedding, TurnsPairs) {
  const Tensor x = Tensor::floats({1, 1, 1, 4}, {1, 2, 3, 4});
  const Tensor cosines = Tensor::floats({2, 2}, {1, 1, 0, 0});
  const Tensor sines = Tensor::floats({2, 2}, {0, 0, 1, 1});
  const Tensor second = Tensor::ints({1, 1}, {1});
  EXPECT_EQ(run_to<float>("RotaryEmbedding", {}, {x, cosines, sines, second}), (std::vector<float>{-3, -4, 1, 2}));
  EXPECT_EQ(run_to<float>("RotaryEmbedding", {{"interleaved", int64_t{1}}}, {x, cosines, sines, second}),
            (std::vector<float>{-2, 1, -4, 3}));
  EXPECT_FALSE(run("RotaryEmbedding", {}, {x, cosines, sines, Tensor::ints({1, 1}, {2})}));
  const TensorType table = f32({50, 4});
  EXPECT_EQ(infer("RotaryEmbedding", {{"num_heads", int64_t{4}}}, {f32({kB, kS, 32}), table, table, i64({kB, kS})}),
            "f32[B,S,32]");
  EXPECT_TRUE(refused("RotaryEmbedding", {}, {f32({kB, kS, 32}), table, table, i64({kB, kS})}));
  EXPECT_TRUE(refused("RotaryEmbedding", {}, {f32({kB, 2, kS, 10}), table, table, i64({kB, kS})}));
}

}  // namespace
}  // namespace isomer::testing
