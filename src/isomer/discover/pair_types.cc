#include "isomer/discover/pair_types.h"

namespace isomer {

std::optional<PairTypes> PairTypes::make(const TermPair& pair, std::span<const PairContext> variants) {
  PairTypes out;
  for (const PairContext& variant : variants) {
    const auto found = evaluate(pair, variant, 1);
    if (!found) return std::nullopt;
    auto& dims = out.dims_.emplace_back();
    for (const TypeId type : found->types) dims.push_back(variant.types.dims(type));
  }
  return out;
}

Ints PairTypes::extent(uint32_t node, size_t axis) const {
  Ints out;
  for (const auto& dims : dims_) out.push_back(dims[node][axis]);
  return out;
}

}  // namespace isomer
