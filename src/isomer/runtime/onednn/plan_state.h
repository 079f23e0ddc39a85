#pragma once
// What a plan holds: its program, and workspaces that wait for the next run.

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "isomer/runtime/onednn/plan.h"
#include "isomer/runtime/onednn/program.h"
#include "isomer/runtime/onednn/workspace.h"

namespace isomer::onednn {

struct PlanState {
  Program program;
  PlanOptions options;
  std::mutex mutex;
  std::vector<std::unique_ptr<Workspace>> free;  // guarded by mutex
};

/// An Error where inputs are not as planned.
Status check_inputs(const Graph& graph, std::span<const Tensor> inputs);
/// Room for what a run makes.
std::vector<Tensor> empty_outputs(const Program& program);

}  // namespace isomer::onednn
