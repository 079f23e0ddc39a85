#pragma once
// Values of attributes, for AttrDef::values.

#include <string>

#include "isomer/ir/attrs.h"

namespace isomer {

inline std::vector<AttrValue> numbers(std::initializer_list<int64_t> values) {
  return std::vector<AttrValue>(values.begin(), values.end());
}

inline std::vector<AttrValue> texts(std::initializer_list<const char*> values) {
  std::vector<AttrValue> out;
  for (const char* value : values) out.emplace_back(std::string(value));
  return out;
}

}  // namespace isomer
