#pragma once
// Attributes of a node: an immutable, shared, sorted list of named values.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/tensor.h"

namespace isomer {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

/// The value of one attribute. The order of the alternatives is the order of AttrKind.
using AttrValue = std::variant<int64_t, float, std::string, Ints, Floats, Strings, Tensor>;
enum class AttrKind : uint8_t { Int, Float, String, Ints, Floats, Strings, Tensor };

/// The text of a value: "3", "0.5", "\"SAME\"", "[1,2]", "f32[2]{0.5,1}".
std::string attr_str(const AttrValue& value);
uint64_t attr_hash(const AttrValue& value);
/// The name of a kind: "int", "float", ...
std::string_view attr_kind_name(AttrKind kind);

/// A set of attributes with its hash. Cheap to copy: copies share.
class Attrs {
 public:
  using Entry = std::pair<std::string, AttrValue>;

  Attrs() = default;
  Attrs(std::initializer_list<Entry> entries) : Attrs(std::vector<Entry>(entries)) {}
  /// Sorts the entries by name. Names must be distinct.
  explicit Attrs(std::vector<Entry> entries);

  const std::vector<Entry>& entries() const;
  const AttrValue* find(std::string_view name) const;
  uint64_t hash() const { return impl_ ? impl_->hash : 0; }

  /// The value of an attribute. The operator's declaration must guarantee its presence and kind (asserted).
  int64_t integer(std::string_view name) const { return get<int64_t>(name); }
  float real(std::string_view name) const { return get<float>(name); }
  const std::string& text(std::string_view name) const { return get<std::string>(name); }
  const Ints& ints(std::string_view name) const { return get<Ints>(name); }
  const Floats& floats(std::string_view name) const { return get<Floats>(name); }
  const Tensor& tensor(std::string_view name) const { return get<Tensor>(name); }
  bool has(std::string_view name) const { return find(name) != nullptr; }

  /// The same attributes with one of them set.
  Attrs with(std::string name, AttrValue value) const;
  Attrs without(std::string_view name) const;

  friend bool operator==(const Attrs& a, const Attrs& b);

 private:
  template <class T>
  const T& get(std::string_view name) const;
  [[noreturn]] static void missing(std::string_view name);

  struct Impl {
    std::vector<Entry> entries;
    uint64_t hash = 0;
  };
  std::shared_ptr<const Impl> impl_;
};

template <class T>
const T& Attrs::get(std::string_view name) const {
  const AttrValue* value = find(name);
  if (value == nullptr || !std::holds_alternative<T>(*value)) missing(name);
  return std::get<T>(*value);
}

}  // namespace isomer
