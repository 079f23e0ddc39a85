#include "isomer/plan/decisions.h"

#include <unordered_map>

namespace isomer {
namespace {

template <class Decision>
std::optional<Decision> find(const std::map<ValueId, Decision>& decided, ValueId value) {
  const auto found = decided.find(value);
  return found == decided.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::string_view algorithm_name(Algorithm algorithm) {
  return algorithm == Algorithm::Winograd ? "winograd" : "direct";
}

std::optional<Layout> Decisions::layout(ValueId value) const { return find(layouts, value); }
std::optional<Algorithm> Decisions::algorithm(ValueId value) const { return find(algorithms, value); }

Decisions carried(const Decisions& decisions, std::span<const uint64_t> images, const Graph& after) {
  Decisions out;
  if (decisions.empty()) return out;
  std::unordered_map<uint64_t, ValueId> by_hash;
  by_hash.reserve(after.num_values());
  for (ValueId value = 0; value < after.num_values(); ++value) by_hash.emplace(after.value_hash(value), value);
  const auto carry = [&](const auto& from, auto& to) {
    for (const auto& [value, decision] : from)
      if (const auto image = by_hash.find(images[value]); image != by_hash.end()) to.emplace(image->second, decision);
  };
  carry(decisions.layouts, out.layouts);
  carry(decisions.algorithms, out.algorithms);
  return out;
}

}  // namespace isomer
