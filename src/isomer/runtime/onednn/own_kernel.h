#pragma once
// What the kernels of our own share: how they stand in a program, and where their elements are in a run.

#include "isomer/runtime/onednn/builder.h"
#include "isomer/runtime/onednn/workspace.h"

namespace isomer::onednn {

inline const float* elements_at(const Workspace& workspace, const Location& location) {
  return reinterpret_cast<const float*>(workspace.address(location));
}
inline float* mutable_elements_at(const Workspace& workspace, const Location& location) {
  return reinterpret_cast<float*>(workspace.address(location));
}

/// A kernel of our own, vectorized for this processor.
struct OwnKernel {
  std::string name;
  std::vector<Location> from = {};
  Location to = {};
  ValueId result = kNoValue;
  std::function<Status(Workspace&)> run = nullptr;
};
/// Emits it, and places its result.
void emit_own(Builder& builder, OwnKernel kernel);

}  // namespace isomer::onednn
