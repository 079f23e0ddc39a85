#pragma once
// The kinds of inputs of pairs of graphs: their extents in every variant of a universe.

#include <map>
#include <mutex>
#include <vector>

#include "isomer/discover/universe.h"

namespace isomer {

using KindId = uint32_t;

/// Kinds by number. The first ones are the groups of inputs of the universe. Thread-safe.
class InputKinds {
 public:
  explicit InputKinds(std::span<const Universe> variants);

  /// Returns the kind with these extents, by variant.
  KindId intern(const std::vector<Ints>& dims);
  Ints dims(KindId kind, size_t variant) const;

  /// Renumbers the kinds after the groups by their extents, so that the numbers do not depend on the order of intern().
  /// Returns the new number of each.
  std::vector<KindId> sort();

 private:
  mutable std::mutex lock_;
  std::vector<std::vector<Ints>> dims_;  // by kind and variant
  std::map<std::vector<Ints>, KindId> known_;
  size_t groups_ = 0;
};

}  // namespace isomer
