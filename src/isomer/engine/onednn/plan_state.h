#pragma once
// The contents of a plan: its program, and workspaces that wait for the next run.

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "isomer/engine/onednn/plan.h"
#include "isomer/engine/onednn/program.h"
#include "isomer/engine/onednn/workspace.h"

namespace isomer::onednn {

struct PlanState {
  Program program;
  PlanOptions options;
  std::mutex mutex;
  std::vector<std::unique_ptr<Workspace>> free;  // guarded by mutex
};

/// Returns an Error if inputs do not have the planned types.
Status check_inputs(const Graph& graph, std::span<const Tensor> inputs);
/// Returns tensors for the outputs of a run.
std::vector<Tensor> empty_outputs(const Program& program);

}  // namespace isomer::onednn
