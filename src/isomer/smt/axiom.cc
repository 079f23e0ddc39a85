#include "isomer/smt/axiom.h"

#include <fmt/format.h>

namespace isomer {
namespace {

template <class T>
const T& attr_of(const Axiom& axiom, const std::string& attr) {
  const auto found = axiom.attrs.find(attr);
  if (found == axiom.attrs.end()) throw GaveUp{fmt::format("{} without the attribute {}", axiom.op, attr)};
  const T* value = std::get_if<T>(&found->second);
  if (value == nullptr) throw GaveUp{fmt::format("{}: the attribute {} is of another kind", axiom.op, attr)};
  return *value;
}

}  // namespace

int64_t known_integer(const Dim& dim) {
  if (!dim.is_const()) throw GaveUp{fmt::format("{} must be known", dim.str())};
  return dim.value();
}

Dim Axiom::integer(const std::string& attr) const { return attr_of<Dim>(*this, attr); }

const std::vector<Dim>& Axiom::integers(const std::string& attr) const {
  return attr_of<std::vector<Dim>>(*this, attr);
}

Element Axiom::number(const std::string& attr) const {
  const auto found = attrs.find(attr);
  if (found != attrs.end())
    if (const Dim* dim = std::get_if<Dim>(&found->second)) return Element::integer(*dim);
  return attr_of<Element>(*this, attr);
}

const std::string& Axiom::text(const std::string& attr) const { return attr_of<std::string>(*this, attr); }

int64_t Axiom::known(const std::string& attr) const { return known_integer(integer(attr)); }

std::vector<int64_t> Axiom::known_list(const std::string& attr) const {
  std::vector<int64_t> out;
  for (const Dim& dim : integers(attr)) out.push_back(known_integer(dim));
  return out;
}

size_t Axiom::axis(const std::string& attr, size_t rank) const {
  const int64_t value = known(attr);
  const auto n = static_cast<int64_t>(rank);
  require(value >= -n && value < n);
  return static_cast<size_t>(value < 0 ? value + n : value);
}

std::string Axiom::name() const {
  std::string out = op;
  for (const auto& [attr, value] : attrs) {
    out += " " + attr + "=";
    if (const auto* dim = std::get_if<Dim>(&value)) out += dim->str();
    if (const auto* list = std::get_if<std::vector<Dim>>(&value)) out += shape_str(*list);
    if (const auto* element = std::get_if<Element>(&value)) out += element->str();
    if (const auto* text = std::get_if<std::string>(&value)) out += *text;
  }
  return out;
}

}  // namespace isomer
