#include "isomer/ir/dtype.h"

#include <array>

namespace isomer {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  size_t bits;
};

constexpr std::array kRows{
    Row{DType::Undefined, "undefined", 0},
    Row{DType::Float, "f32", 32},
    Row{DType::Uint8, "u8", 8},
    Row{DType::Int8, "i8", 8},
    Row{DType::Uint16, "u16", 16},
    Row{DType::Int16, "i16", 16},
    Row{DType::Int32, "i32", 32},
    Row{DType::Int64, "i64", 64},
    Row{DType::String, "string", 0},
    Row{DType::Bool, "bool", 8},
    Row{DType::Half, "f16", 16},
    Row{DType::Double, "f64", 64},
    Row{DType::Uint32, "u32", 32},
    Row{DType::Uint64, "u64", 64},
    Row{DType::Complex64, "c64", 64},
    Row{DType::Complex128, "c128", 128},
    Row{DType::BFloat16, "bf16", 16},
    Row{DType::Float8E4M3FN, "f8e4m3fn", 8},
    Row{DType::Float8E4M3FNUZ, "f8e4m3fnuz", 8},
    Row{DType::Float8E5M2, "f8e5m2", 8},
    Row{DType::Float8E5M2FNUZ, "f8e5m2fnuz", 8},
    Row{DType::Uint4, "u4", 4},
    Row{DType::Int4, "i4", 4},
    Row{DType::Float4E2M1, "f4e2m1", 4},
    Row{DType::Float8E8M0, "f8e8m0", 8},
    Row{DType::Uint2, "u2", 2},
    Row{DType::Int2, "i2", 2},
    Row{DType::Float6E2M3, "f6e2m3", 6},
    Row{DType::Float6E3M2, "f6e3m2", 6},
    Row{DType::Field, "field", 64},
};

const Row& row(DType dtype) {
  for (const Row& r : kRows)
    if (r.dtype == dtype) return r;
  return kRows[0];
}

}  // namespace

std::string_view dtype_name(DType dtype) { return row(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Row& r : kRows)
    if (r.name == name && r.dtype != DType::Undefined) return r.dtype;
  return std::nullopt;
}

std::optional<DType> dtype_from_onnx(int number) {
  for (const Row& r : kRows)
    if (static_cast<int>(r.dtype) == number && r.dtype != DType::Field) return r.dtype;
  return std::nullopt;
}

size_t dtype_bits(DType dtype) { return row(dtype).bits; }

bool is_real(DType dtype) {
  return dtype == DType::Float || dtype == DType::Double || dtype == DType::Half || dtype == DType::BFloat16;
}

bool is_integer(DType dtype) {
  switch (dtype) {
    case DType::Int8:
    case DType::Int16:
    case DType::Int32:
    case DType::Int64:
    case DType::Uint8:
    case DType::Uint16:
    case DType::Uint32:
    case DType::Uint64:
      return true;
    default:
      return false;
  }
}

bool is_signed_integer(DType dtype) {
  switch (dtype) {
    case DType::Int2:
    case DType::Int4:
    case DType::Int8:
    case DType::Int16:
    case DType::Int32:
    case DType::Int64:
      return true;
    default:
      return false;
  }
}

}  // namespace isomer
