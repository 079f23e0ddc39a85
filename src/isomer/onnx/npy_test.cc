#include "isomer/onnx/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace isomer {
namespace {

using testing::HasSubstr;

/// A file of version 1 with this header and data.
std::string npy(const std::string& header, const std::string& data) {
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() & 0xFF) +
         static_cast<char>(header.size() >> 8) + header + data;
}

std::string error_of(const std::string& bytes) {
  const auto tensor = parse_npy(bytes);
  return tensor ? "" : tensor.error().message;
}

TEST(Npy, EveryTypeComesBack) {
  for (int number = 1; number <= 16; ++number) {
    const DType dtype = *dtype_from_onnx(number);
    if (dtype == DType::String) continue;
    for (const auto& dims : {std::vector<int64_t>{2, 3}, {4}, {}, {0, 5}}) {
      Tensor tensor = Tensor::zeros(dtype, dims);
      int next = 0;
      for (std::byte& byte : tensor.mutable_bytes()) byte = std::byte(next++ % (dtype == DType::Bool ? 2 : 251));
      const auto bytes = npy_bytes(tensor);
      ASSERT_TRUE(bytes.has_value()) << dtype_name(dtype);
      const auto back = parse_npy(*bytes);
      ASSERT_TRUE(back.has_value()) << dtype_name(dtype) << ": " << back.error().message;
      EXPECT_EQ(*back, tensor) << dtype_name(dtype);
      if (dims.size() == 2 && dims[0] > 0) {
        EXPECT_EQ((bytes->size() - tensor.bytes().size()) % 64, 0) << "the data is not aligned";
      }
    }
  }
  const Tensor text = Tensor::strings({2, 2}, {"", "a",
                                               "Gr\xC3\xBC\xC3\x9F"
                                               "e",
                                               "\xF0\x9F\x98\x80"});
  EXPECT_EQ(parse_npy(npy_bytes(text).value()).value(), text);
}

TEST(Npy, ByteAndElementOrder) {
  const auto big =
      parse_npy(npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", std::string("\0\1\1\0", 4)));
  EXPECT_EQ(*big, Tensor::of<int16_t>(DType::Int16, {2}, {1, 256}));
  const auto fortran =
      parse_npy(npy("{\"shape\": (2, 3), 'fortran_order': True, 'descr': '|u1'}", std::string("\1\4\2\5\3\6", 6)));
  EXPECT_EQ(*fortran, Tensor::of<uint8_t>(DType::Uint8, {2, 3}, {1, 2, 3, 4, 5, 6}));
  const auto scalar = parse_npy(npy("{'descr': '|b1', 'fortran_order': False, 'shape': ()}", "\7"));
  EXPECT_EQ(*scalar, Tensor::of<uint8_t>(DType::Bool, {}, {1}));
  const auto ascii =
      parse_npy(npy("{'descr': '|S3', 'fortran_order': False, 'shape': (2,)}", std::string("ab\0xyz", 6)));
  EXPECT_EQ(*ascii, Tensor::strings({2}, {"ab", "xyz"}));
}

TEST(Npy, BadFilesAreRefused) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_EQ(error_of(""), "not a .npy file");
  EXPECT_EQ(error_of("PK\x03\x04 an .npz file"), "not a .npy file");
  EXPECT_THAT(error_of(npy(header, "1234567")), HasSubstr("7 bytes of elements, but the header says 8"));
  EXPECT_THAT(error_of(npy(header, "123456789")), HasSubstr("9 bytes"));
  const auto with = [](const std::string& descr, const std::string& shape) {
    return npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + "}", "");
  };
  EXPECT_THAT(error_of(with("'|O'", "(0,)")), HasSubstr("'|O'"));
  EXPECT_THAT(error_of(with("''", "(0,)")), HasSubstr("unknown element type"));
  EXPECT_THAT(error_of(with("'<U'", "(0,)")), HasSubstr("unknown element type"));
  EXPECT_THAT(error_of(with("'<U99999999999999999999'", "(0,)")), HasSubstr("unknown element type"));
  EXPECT_THAT(error_of(with("[('a', '<f4')]", "(0,)")), HasSubstr("structured"));
  EXPECT_THAT(error_of(with("'<f4'", "(-1,)")), HasSubstr("negative"));
  EXPECT_THAT(error_of(with("'<f4'", "(4294967296, 4294967296)")), HasSubstr("too many"));
  EXPECT_THAT(error_of(with("'<U0'", "(4294967296,)")), HasSubstr("too many"));
  EXPECT_FALSE(error_of(with("'<f4'", "(2 3)")).empty());
  EXPECT_FALSE(error_of(npy("{'descr': '<f4'}", "")).empty());
  EXPECT_FALSE(error_of(npy("{'descr': '<f4', 'more': 1}", "")).empty());
  EXPECT_FALSE(error_of(npy("", "")).empty());
  EXPECT_THAT(error_of(npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}", "\xFF\xFF\xFF\xFF")),
              HasSubstr("UTF-32"));
  EXPECT_FALSE(npy_bytes(Tensor::strings({1}, {"\xFF"})).has_value());
  EXPECT_THAT(npy_bytes(Tensor::zeros(DType::Int4, {2})).error().message, HasSubstr("cannot hold"));
}

TEST(Npy, EveryCutAndEveryFlippedByteIsSurvived) {
  const std::string whole = npy_bytes(Tensor::floats({2, 3}, {1, 2, 3, 4, 5, 6})).value();
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(parse_npy(whole.substr(0, size)).has_value()) << size;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char flip : {'\x01', '\x20', '\x7F'}) {
      std::string broken = whole;
      broken[at] = static_cast<char>(broken[at] ^ flip);
      const auto tensor = parse_npy(broken);
      if (tensor && tensor->dtype() != DType::String) {
        EXPECT_LE(tensor->bytes().size(), whole.size());
      }
    }
  }
}

TEST(Npy, ErrorsNameTheFile) {
  EXPECT_THAT(read_npy("/nowhere/x.npy").error().message, HasSubstr("/nowhere/x.npy"));
  const auto path = std::filesystem::path(testing::TempDir()) / "isomer_npy_test.npy";
  ASSERT_TRUE(write_npy(path, Tensor::ints({1}, {5})).has_value());
  EXPECT_EQ(read_npy(path).value(), Tensor::ints({1}, {5}));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace isomer
