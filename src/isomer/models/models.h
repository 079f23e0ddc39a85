#pragma once
// The benchmark networks, from papers, with seeded weights.

#include <cstdint>
#include <string>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// The maximum batch size of a network.
inline constexpr int kMaxBatch = 4096;
/// The opset in which networks are written; every engine supports it.
inline constexpr int kNetworkOpset = 17;

struct ModelEntry {
  std::string name;
  std::string description;
};

/// All listed networks. Networks whose names end in a number also exist for other numbers.
std::vector<ModelEntry> all_models();

/// The network of this name for a batch size. The same name, batch and seed give the same graph on every machine. Fails
/// if the batch is not positive or the name is unknown; the Error then lists similar names.
Result<Graph> build_model(const std::string& name, int batch = 1, uint64_t seed = 0);

}  // namespace isomer
