#pragma once
// The benchmark networks of the papers, with seeded weights.

#include <cstdint>
#include <string>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// The largest batch that networks are made for.
inline constexpr int kMaxBatch = 4096;

struct ModelEntry {
  std::string name;
  std::string description;
};

/// Every listed network. Those whose names end in a number exist for other numbers too.
std::vector<ModelEntry> all_models();

/// The network of this name for a batch size. The same name, batch and seed give the same graph on every machine.
/// Fails on a batch that is not positive, and on an unknown name, listing names that are near.
Result<Graph> build_model(const std::string& name, int batch = 1, uint64_t seed = 0);

}  // namespace isomer
