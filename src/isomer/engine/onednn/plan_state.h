#pragma once
// The contents of a plan: its program, and workspaces that wait for the next run.

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "isomer/base/byte_pool.h"
#include "isomer/engine/onednn/plan.h"
#include "isomer/engine/onednn/program.h"
#include "isomer/engine/onednn/workspace.h"

namespace isomer::onednn {

struct PlanState {
  Program program;
  PlanOptions options;
  std::mutex mutex;
  std::vector<std::unique_ptr<Workspace>> free;  // guarded by mutex
  /// Lends the outputs. In a loop that passes outputs on as inputs, those of one run are free while another one writes.
  std::optional<BytePool> outputs;
};

/// Returns an Error if inputs do not have the planned types.
Status check_inputs(const Graph& graph, std::span<const Tensor> inputs);
/// Returns tensors for the outputs of a run; borrowed from `pool` unless that is null.
std::vector<Tensor> empty_outputs(const Program& program, BytePool* pool = nullptr);
/// Returns the bytes of the outputs of a run whose extents do not depend on data.
size_t output_bytes(const Program& program);

}  // namespace isomer::onednn
