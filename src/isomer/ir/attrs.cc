#include "isomer/ir/attrs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "isomer/base/hash.h"
#include "isomer/ir/text.h"

namespace isomer {
namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace

std::string attr_str(const AttrValue& value) {
  return std::visit(Overloaded{
                        [](int64_t v) { return fmt::format("{}", v); },
                        [](float v) { return float_str(v); },
                        [](const std::string& v) { return quoted(v); },
                        [](const Ints& v) { return fmt::format("[{}]", fmt::join(v, ",")); },
                        [](const Floats& v) {
                          std::vector<std::string> parts;
                          for (const float f : v) parts.push_back(float_str(f));
                          return fmt::format("[{}]", fmt::join(parts, ","));
                        },
                        [](const Strings& v) {
                          std::vector<std::string> parts;
                          for (const std::string& s : v) parts.push_back(quoted(s));
                          return fmt::format("[{}]", fmt::join(parts, ","));
                        },
                        [](const Tensor& v) { return tensor_str(v); },
                    },
                    value);
}

uint64_t attr_hash(const AttrValue& value) {
  const uint64_t kind = value.index();
  return std::visit(Overloaded{
                        [&](int64_t v) { return hash_mix(kind, static_cast<uint64_t>(v)); },
                        [&](float v) { return hash_mix(kind, std::bit_cast<uint32_t>(v)); },
                        [&](const std::string& v) { return hash_mix(kind, hash_text(v)); },
                        [&](const Ints& v) { return hash_mix(kind, hash_bytes(v.data(), v.size() * sizeof(int64_t))); },
                        [&](const Floats& v) { return hash_mix(kind, hash_bytes(v.data(), v.size() * sizeof(float))); },
                        [&](const Strings& v) {
                          uint64_t h = hash_mix(kind, v.size());
                          for (const std::string& s : v) h = hash_mix(h, hash_text(s));
                          return h;
                        },
                        [&](const Tensor& v) { return hash_mix(kind, v.hash()); },
                    },
                    value);
}

std::string_view attr_kind_name(AttrKind kind) {
  constexpr std::string_view kNames[] = {"int", "float", "string", "ints", "floats", "strings", "tensor"};
  return kNames[static_cast<size_t>(kind)];
}

Attrs::Attrs(std::vector<Entry> entries) {
  if (entries.empty()) return;
  // Sorting moves entries even if they are sorted, as those of other attributes are.
  if (!std::ranges::is_sorted(entries, {}, &Entry::first)) std::ranges::sort(entries, {}, &Entry::first);
  uint64_t h = entries.size();
  for (const auto& [name, value] : entries) h = hash_mix(hash_mix(h, hash_text(name)), attr_hash(value));
  impl_ = std::make_shared<const Impl>(Impl{std::move(entries), h});
}

const std::vector<Attrs::Entry>& Attrs::entries() const {
  static const std::vector<Entry> kNone;
  return impl_ ? impl_->entries : kNone;
}

const AttrValue* Attrs::find(std::string_view name) const {
  for (const auto& [key, value] : entries())
    if (key == name) return &value;
  return nullptr;
}

Attrs Attrs::with(std::string name, AttrValue value) const {
  std::vector<Entry> changed = entries();
  const auto at = std::ranges::lower_bound(changed, name, {}, &Entry::first);
  if (at != changed.end() && at->first == name)
    at->second = std::move(value);
  else
    changed.emplace(at, std::move(name), std::move(value));
  return Attrs(std::move(changed));
}

Attrs Attrs::without(std::string_view name) const {
  if (!has(name)) return *this;
  std::vector<Entry> rest;
  rest.reserve(entries().size() - 1);
  std::ranges::copy_if(entries(), std::back_inserter(rest), [&](const Entry& entry) { return entry.first != name; });
  return Attrs(std::move(rest));
}

void Attrs::missing(std::string_view name) {
  fmt::print(stderr, "isomer: bug: attribute '{}' is missing or of another kind\n", name);
  std::abort();
}

bool operator==(const Attrs& a, const Attrs& b) {
  if (a.impl_ == b.impl_) return true;
  return a.hash() == b.hash() && a.entries() == b.entries();
}

}  // namespace isomer
