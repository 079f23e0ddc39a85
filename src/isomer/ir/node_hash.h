#pragma once
// The content hash of a node: what it computes, from what its operands compute.

#include <span>

#include "isomer/base/hash.h"
#include "isomer/ir/op.h"

namespace isomer {

/// `operand_hashes` are content hashes of values, 0 for an absent operand.
inline uint64_t node_hash(const OpDef& op, const Attrs& attrs, size_t num_results,
                          std::span<const uint64_t> operand_hashes) {
  uint64_t hash = hash_mix(hash_mix(op.hash(), attrs.hash()), num_results);
  for (const uint64_t operand : operand_hashes) hash = hash_mix(hash, operand);
  return hash;
}

}  // namespace isomer
