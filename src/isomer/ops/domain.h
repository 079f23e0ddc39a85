#pragma once
// Declarations of attributes with the values that they may have.

#include <string>

#include "isomer/ir/op.h"

namespace isomer {

inline std::vector<AttrValue> numbers(std::initializer_list<int64_t> values) {
  return std::vector<AttrValue>(values.begin(), values.end());
}

inline std::vector<AttrValue> texts(std::initializer_list<const char*> values) {
  std::vector<AttrValue> out;
  for (const char* value : values) out.emplace_back(std::string(value));
  return out;
}

/// An attribute with one of these values.
inline AttrDef choice(std::string name, AttrValue preset, std::vector<AttrValue> values) {
  const auto kind = static_cast<AttrKind>(preset.index());
  return {.name = std::move(name),
          .kind = kind,
          .preset = std::move(preset),
          .domain = AttrDomain::Values,
          .values = std::move(values)};
}

/// The element type of statistics or sums, as ONNX's number.
inline AttrDef stash_type(int since = 1) {
  return {
      .name = "stash_type", .kind = AttrKind::Int, .preset = int64_t{1}, .since = since, .domain = AttrDomain::Fixed};
}

}  // namespace isomer
