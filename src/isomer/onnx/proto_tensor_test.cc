#include "isomer/onnx/proto_tensor.h"

#include "isomer/onnx/model_testing.h"

namespace isomer {
namespace {

onnx::TensorProto proto_of(DType dtype, const std::vector<int64_t>& dims) {
  onnx::TensorProto proto;
  proto.set_data_type(static_cast<int>(dtype));
  proto.mutable_dims()->Add(dims.begin(), dims.end());
  return proto;
}

Result<Tensor> read(const onnx::TensorProto& proto) {
  ExternalData external("");
  return read_tensor(proto, external);
}

TEST(ProtoTensor, RawDataOfEveryType) {
  for (int number = 1; number <= static_cast<int>(DType::Float6E3M2); ++number) {
    const auto dtype = dtype_from_onnx(number);
    ASSERT_TRUE(dtype) << number;
    if (*dtype == DType::String) continue;
    auto proto = proto_of(*dtype, {3, 5});
    std::string bytes(Tensor::byte_size(*dtype, std::vector<int64_t>{3, 5}), '\1');
    bytes[0] = '\2';
    proto.set_raw_data(bytes);
    const auto tensor = read(proto);
    ASSERT_TRUE(tensor) << dtype_name(*dtype) << ": " << tensor.error().message;
    EXPECT_EQ(tensor_proto(*tensor).SerializeAsString(), proto.SerializeAsString());
    proto.set_raw_data(bytes + "x");
    EXPECT_FALSE(read(proto)) << dtype_name(*dtype);
  }
}

TEST(ProtoTensor, NarrowTypesInInt32Data) {
  for (const DType dtype : {DType::Int8, DType::Uint8, DType::Bool, DType::Int16, DType::Half, DType::BFloat16,
                            DType::Float8E5M2, DType::Int32, DType::Uint16}) {
    auto proto = proto_of(dtype, {2});
    proto.add_int32_data(1);
    proto.add_int32_data(77);
    const auto tensor = read(proto);
    ASSERT_TRUE(tensor) << dtype_name(dtype);
    const auto bytes = tensor->bytes();
    EXPECT_EQ(static_cast<int>(bytes[0]), 1) << dtype_name(dtype);
    EXPECT_EQ(static_cast<int>(bytes[bytes.size() / 2]), 77) << dtype_name(dtype);
    proto.add_int32_data(0);
    EXPECT_FALSE(read(proto)) << dtype_name(dtype);
  }
}

TEST(ProtoTensor, PackedTypesInInt32Data) {
  auto proto = proto_of(DType::Int4, {3});
  proto.add_int32_data(0x21);
  proto.add_int32_data(0x03);
  EXPECT_EQ(static_cast<int>(read(proto)->bytes()[0]), 0x21);
  auto six = proto_of(DType::Float6E2M3, {4});
  for (const int element : {0x3f, 0, 0x2a, 1}) six.add_int32_data(element);
  const auto tensor = read(six);
  ASSERT_TRUE(tensor);
  // 24 bits; the first element is in the low bits.
  const unsigned bits = 0x3fU | 0x2aU << 12 | 1U << 18;
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(static_cast<unsigned>(tensor->bytes()[i]), bits >> (8 * i) & 0xff);
}

TEST(ProtoTensor, WideTypesInTheirFields) {
  auto doubles = proto_of(DType::Complex128, {1});
  doubles.add_double_data(1.5);
  doubles.add_double_data(2.5);
  EXPECT_EQ(read(doubles)->data<double>()[1], 2.5);
  auto unsigned32 = proto_of(DType::Uint32, {1});
  unsigned32.add_uint64_data(4000000000);
  EXPECT_EQ(read(unsigned32)->data<uint32_t>()[0], 4000000000U);
  auto text = proto_of(DType::String, {2});
  text.add_string_data("a");
  text.add_string_data(std::string("\0b", 2));
  EXPECT_EQ(read(text)->string_elements()[1].size(), 2U);
  EXPECT_EQ(tensor_proto(*read(text)).SerializeAsString(), text.SerializeAsString());
}

TEST(ProtoTensor, TakesRawDataWithoutACopy) {
  auto proto = proto_of(DType::Float, {1000});
  proto.set_raw_data(std::string(4000, '\0'));
  const void* place = proto.raw_data().data();
  ExternalData external("");
  const auto tensor = take_tensor(proto, external);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(static_cast<const void*>(tensor->bytes().data()), place);
}

}  // namespace
}  // namespace isomer
