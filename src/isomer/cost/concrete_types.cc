#include "isomer/cost/concrete_types.h"

#include <algorithm>

#include "isomer/base/hash.h"

namespace isomer {
namespace {

int64_t extent(const Dim& dim) { return dim.value(); }
int64_t extent(int64_t dim) { return dim; }

}  // namespace

ConcreteTypes::ConcreteTypes(const Graph& graph, const SymbolValues& symbols) : graph_(graph), symbols_(symbols) {
  const auto count = static_cast<ValueId>(graph.num_values());
  hashes_.resize(count);
  bytes_.resize(count);
  const auto describe = [&](ValueId value, const auto& dims) {
    const DType dtype = graph.type(value).dtype;
    uint64_t hash = hash_mix(static_cast<uint64_t>(dtype), dims.size());
    double bytes = static_cast<double>(dtype_bits(dtype)) / 8;
    for (const auto& dim : dims) {
      hash = hash_mix(hash, static_cast<uint64_t>(extent(dim)));
      bytes *= static_cast<double>(extent(dim));
    }
    hashes_[value] = hash;
    bytes_[value] = bytes;
  };
  for (ValueId value = 0; value < count; ++value) {
    if (is_concrete(graph.type(value))) {
      describe(value, *graph.type(value).shape);
    } else if (extents()[value]) {
      describe(value, *extents()[value]);
    } else {
      hashes_[value] = static_cast<uint64_t>(graph.type(value).dtype);
    }
  }
}

const Extents& ConcreteTypes::extents() const {
  if (!extents_) extents_ = extents_of(graph_, symbols_);
  return *extents_;
}

bool is_concrete(const TensorType& type) {
  return type.shape &&
         std::all_of(type.shape->begin(), type.shape->end(), [](const Dim& dim) { return dim.is_const(); });
}

std::optional<double> concrete_bytes(const TensorType& type) {
  if (!is_concrete(type)) return std::nullopt;
  double bytes = static_cast<double>(dtype_bits(type.dtype)) / 8;
  for (const Dim& dim : *type.shape) bytes *= static_cast<double>(dim.value());
  return bytes;
}

std::vector<double> bytes_of_values(const Graph& graph, const SymbolValues& symbols) {
  const ConcreteTypes types(graph, symbols);
  return {types.bytes().begin(), types.bytes().end()};
}

}  // namespace isomer
