#pragma once
// The content hash of a node: a hash of what it computes, made from the hashes of its operands.

#include <algorithm>
#include <span>

#include "isomer/base/hash.h"
#include "isomer/ir/op.h"

namespace isomer {

/// `operand_hashes` are content hashes of values, 0 for an absent operand. For a commutative operator, the order of the
/// operands does not matter.
inline uint64_t node_hash(const OpDef& op, const Attrs& attrs, size_t num_results,
                          std::span<const uint64_t> operand_hashes) {
  uint64_t hash = hash_mix(hash_mix(op.hash(), attrs.hash()), num_results);
  if (op.commutative && operand_hashes.size() == 2) {
    const auto [low, high] = std::minmax(operand_hashes[0], operand_hashes[1]);
    return hash_mix(hash_mix(hash, low), high);
  }
  for (const uint64_t operand : operand_hashes) hash = hash_mix(hash, operand);
  return hash;
}

}  // namespace isomer
