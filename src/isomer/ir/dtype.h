#pragma once
// Element types of tensors, with the numbers of ONNX's TensorProto.DataType.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace isomer {

enum class DType : uint8_t {
  Undefined = 0,
  Float = 1,
  Uint8 = 2,
  Int8 = 3,
  Uint16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Half = 10,
  Double = 11,
  Uint32 = 12,
  Uint64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  BFloat16 = 16,
  Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18,
  Float8E5M2 = 19,
  Float8E5M2FNUZ = 20,
  Uint4 = 21,
  Int4 = 22,
  Float4E2M1 = 23,
  Float8E8M0 = 24,
  Uint2 = 25,
  Int2 = 26,
  Float6E2M3 = 27,
  Float6E3M2 = 28,
  /// An element of the prime field (ir/field.h), for exact evaluation; never occurs in a model.
  Field = 255,
};

/// Short name as used in text ("f32", "i64", "bool", ...).
std::string_view dtype_name(DType dtype);

/// The dtype with this short name, if there is one.
std::optional<DType> dtype_from_name(std::string_view name);

/// The dtype with this ONNX number, if the number is known.
std::optional<DType> dtype_from_onnx(int number);

/// Number of bits of one element; 0 for strings and Undefined.
size_t dtype_bits(DType dtype);

/// Whether this is Float, Double, Half or BFloat16. Rules treat elements of these types as real numbers.
bool is_real(DType dtype);

/// Whether this is a signed or unsigned integer type of at least 8 bits.
bool is_integer(DType dtype);

/// Whether this is a signed integer type, of any number of bits.
bool is_signed_integer(DType dtype);

}  // namespace isomer
