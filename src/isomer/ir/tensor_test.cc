#include "isomer/ir/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace isomer {
namespace {

TEST(Tensor, IsMutableWhileNothingElseHasItsElements) {
  Tensor tensor = Tensor::uninitialized(DType::Float, {3, 1000});
  ASSERT_EQ(tensor.bytes().size(), 12000U);
  EXPECT_TRUE(tensor.is_mutable());
  tensor.mutable_data<float>()[2999] = 7;
  const Tensor other = tensor;
  EXPECT_FALSE(tensor.is_mutable());
  EXPECT_EQ(other.data<float>()[2999], 7);
  EXPECT_TRUE(Tensor::zeros(DType::Int8, {2}).is_mutable());
  const std::array<std::byte, 2> bytes{};
  EXPECT_FALSE(Tensor::view(DType::Int8, {2}, bytes, nullptr).is_mutable());
  EXPECT_FALSE(Tensor().is_mutable());
}

TEST(Tensor, HasBytesOnlyForKnownExtents) {
  EXPECT_EQ(Tensor::byte_size(TensorType(DType::Float, Shape{2, 3})), 24U);
  EXPECT_EQ(Tensor::byte_size(TensorType(DType::Float, Shape{})), 4U);
  EXPECT_EQ(Tensor::byte_size(TensorType(DType::Int4, Shape{3})), 2U);
  EXPECT_EQ(Tensor::byte_size(TensorType(DType::Float, Shape{Dim::symbol("N"), 3})), std::nullopt);
  EXPECT_EQ(Tensor::byte_size(TensorType()), std::nullopt);
}

TEST(WeakTensor, DoesNotKeepData) {
  std::optional<Tensor> tensor = Tensor::floats({2, 1}, {3, 4});
  const WeakTensor weak(*tensor);
  EXPECT_EQ(weak.lock(), *tensor);
  const Tensor flat = tensor->reshaped({2});
  tensor.reset();
  EXPECT_EQ(weak.lock().dims(), (std::vector<int64_t>{2, 1})) << "another tensor shares the data";
  EXPECT_EQ(weak.lock().bytes().data(), flat.bytes().data());
  const WeakTensor gone(Tensor::floats({1}, {5}));
  EXPECT_TRUE(gone.lock().empty());
}

}  // namespace
}  // namespace isomer
