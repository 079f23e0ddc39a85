#pragma once
// Workspaces that runs borrow from their plan.

#include <memory>
#include <mutex>

#include "isomer/engine/onednn/plan_state.h"

namespace isomer::onednn {

/// A workspace that is returned to its plan at the end.
class Lease {
 public:
  explicit Lease(PlanState& state) : state_(state) {
    {
      const std::lock_guard<std::mutex> lock(state.mutex);
      if (!state.free.empty()) {
        workspace_ = std::move(state.free.back());
        state.free.pop_back();
      }
    }
    if (workspace_ == nullptr) workspace_ = std::make_unique<Workspace>(state.program);
  }
  ~Lease() {
    const std::lock_guard<std::mutex> lock(state_.mutex);
    state_.free.push_back(std::move(workspace_));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Workspace* operator->() const { return workspace_.get(); }

 private:
  PlanState& state_;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace isomer::onednn
