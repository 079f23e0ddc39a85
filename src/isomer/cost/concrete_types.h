#pragma once
// The types of a graph's values for given values of its symbols, in the forms that cost models need.

#include <optional>
#include <vector>

#include "isomer/ops/work.h"

namespace isomer {

class ConcreteTypes {
 public:
  /// Keeps references to both. Takes time linear in the graph; if every extent is an integer, nothing is inferred.
  ConcreteTypes(const Graph& graph, const SymbolValues& symbols);

  /// Returns a hash of element type and extents.
  uint64_t hash(ValueId value) const { return hashes_[value]; }
  /// Returns 0 if the extents are unknown.
  double bytes(ValueId value) const { return bytes_[value]; }
  std::span<const double> bytes() const { return bytes_; }
  /// Returns the extents of all values; computed on first use.
  const Extents& extents() const;

 private:
  const Graph& graph_;
  const SymbolValues& symbols_;
  std::vector<uint64_t> hashes_;
  std::vector<double> bytes_;
  mutable std::optional<Extents> extents_;
};

/// Returns whether no extent is symbolic or unknown.
bool is_concrete(const TensorType& type);

/// Returns the bytes of a value of this type; nothing if an extent is symbolic or unknown.
std::optional<double> concrete_bytes(const TensorType& type);

/// Returns the bytes of every value of a graph.
std::vector<double> bytes_of_values(const Graph& graph, const SymbolValues& symbols);

}  // namespace isomer
