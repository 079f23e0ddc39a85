#pragma once
// The types of a graph's values for given values of its symbols, in the forms that costs need.

#include <optional>
#include <vector>

#include "isomer/runtime/work.h"

namespace isomer {

class ConcreteTypes {
 public:
  /// Keeps references to both. Linear in the graph; where every extent is an integer, nothing is inferred.
  ConcreteTypes(const Graph& graph, const SymbolValues& symbols);

  /// Hash of element type and extents.
  uint64_t hash(ValueId value) const { return hashes_[value]; }
  /// 0 where the extents are not known.
  double bytes(ValueId value) const { return bytes_[value]; }
  std::span<const double> bytes() const { return bytes_; }
  /// Of all values; made when first asked for.
  const Extents& extents() const;

 private:
  const Graph& graph_;
  const SymbolValues& symbols_;
  std::vector<uint64_t> hashes_;
  std::vector<double> bytes_;
  mutable std::optional<Extents> extents_;
};

/// Bytes of every value of a graph.
std::vector<double> bytes_of_values(const Graph& graph, const SymbolValues& symbols);

}  // namespace isomer
