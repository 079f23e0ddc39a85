#include "isomer/check/features.h"

#include <algorithm>

namespace isomer {
namespace {

bool all_equal(const Ints& list, int64_t value) {
  return std::ranges::all_of(list, [&](int64_t element) { return element == value; });
}

bool is_identity(const Ints& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

void add_list(const std::string& name, const AttrDef& def, const Ints& list, Features& out) {
  if (def.name == "perm" ? is_identity(list) : all_equal(list, 0) || all_equal(list, 1)) return;
  out.insert(name);
  if (std::ranges::any_of(list, [](int64_t element) { return element < 0; })) out.insert(name + " < 0");
  const auto middle = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
  if (def.name == "pads" && !std::equal(list.begin(), middle, middle, list.end())) out.insert(name + " uneven");
}

/// Returns the variable of a value; an element of a sequence includes its number.
std::string variable_of(const Instance::Value& value) {
  return value.name.substr(0, value.name.find_last_not_of("0123456789") + 1);
}

void add_wide(const Instance& instance, Features& out) {
  Features narrow;
  for (const Instance::Value& value : instance.values) {
    if (value.kind == Instance::Value::Kind::Result || value.name.empty()) continue;
    const Shape& shape = *value.type.shape;
    const bool wide = !shape.empty() && std::ranges::all_of(shape, [](const Dim& dim) { return dim.value() > 1; });
    (wide ? out : narrow).insert(variable_of(value) + " wide");
  }
  std::erase_if(out, [&](const std::string& feature) { return narrow.contains(feature); });
}

}  // namespace

Features features_of(const Instance& instance) {
  Features out;
  add_wide(instance, out);
  for (const Instance::Node& node : instance.nodes) {
    for (const auto& [attr, value] : node.attrs.entries()) {
      const AttrDef* def = node.op->find_attr(attr);
      if (def == nullptr || (def->preset && *def->preset == value)) continue;
      const std::string name = node.op->name + " " + attr;
      if (const auto* list = std::get_if<Ints>(&value))
        add_list(name, *def, *list, out);
      else if (const auto* number = std::get_if<int64_t>(&value); number != nullptr && attr.ends_with("axis"))
        out.insert(*number < 0 ? name + " < 0" : name);
      else
        out.insert(name);
    }
  }
  return out;
}

void ShownFeatures::add(const Features& features) {
  if (!sets_.insert(features).second) return;
  for (auto a = features.begin(); a != features.end(); ++a)
    for (auto b = a; b != features.end(); ++b) pairs_.emplace(*a, *b);
}

std::optional<std::pair<std::string, std::string>> ShownFeatures::lacks(const ShownFeatures& other) const {
  for (const auto& pair : other.pairs_)
    if (!pairs_.contains(pair)) return pair;
  return std::nullopt;
}

Features ShownFeatures::largest() const {
  const auto found = std::ranges::max_element(sets_, {}, &Features::size);
  return found == sets_.end() ? Features{} : *found;
}

}  // namespace isomer
