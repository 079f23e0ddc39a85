#pragma once
// What inputs of pairs of graphs may be: their extents in every variant of a universe.

#include <map>
#include <mutex>
#include <vector>

#include "isomer/discover/universe.h"

namespace isomer {

using KindId = uint32_t;

/// Kinds by number. The first ones are the groups of inputs of the universe. Any number of threads may use it at once.
class InputKinds {
 public:
  explicit InputKinds(std::span<const Universe> variants);

  /// The kind with these extents, by variant.
  KindId intern(const std::vector<Ints>& dims);
  Ints dims(KindId kind, size_t variant) const;

  /// Numbers the kinds behind the groups by their extents, whatever the order in which they were met. Returns the new
  /// number of each.
  std::vector<KindId> sort();

 private:
  mutable std::mutex lock_;
  std::vector<std::vector<Ints>> dims_;  // by kind and variant
  std::map<std::vector<Ints>, KindId> known_;
  size_t groups_ = 0;
};

}  // namespace isomer
