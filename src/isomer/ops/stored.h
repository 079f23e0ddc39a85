#pragma once
// Dispatch over the C++ types of stored elements.

#include "isomer/ir/dtype.h"
#include "isomer/ops/half.h"

namespace isomer {

/// Calls f.template operator()<T>() with the C++ type of the stored elements of a real or integer dtype, or of Bool
/// (uint8_t). Calls other() for any other dtype.
template <class F, class Other>
auto for_stored(DType dtype, F&& f, Other&& other) {
  switch (dtype) {
    case DType::Float:
      return f.template operator()<float>();
    case DType::Double:
      return f.template operator()<double>();
    case DType::Half:
      return f.template operator()<Half>();
    case DType::BFloat16:
      return f.template operator()<BFloat16>();
    case DType::Int8:
      return f.template operator()<int8_t>();
    case DType::Int16:
      return f.template operator()<int16_t>();
    case DType::Int32:
      return f.template operator()<int32_t>();
    case DType::Int64:
      return f.template operator()<int64_t>();
    case DType::Uint8:
    case DType::Bool:
      return f.template operator()<uint8_t>();
    case DType::Uint16:
      return f.template operator()<uint16_t>();
    case DType::Uint32:
      return f.template operator()<uint32_t>();
    case DType::Uint64:
      return f.template operator()<uint64_t>();
    default:
      return other();
  }
}

}  // namespace isomer
