#include "isomer/ir/tensor.h"

#include <gtest/gtest.h>

#include <optional>

namespace isomer {
namespace {

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
