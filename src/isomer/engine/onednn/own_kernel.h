#pragma once
// Helpers for kernels that are not oneDNN's: how they are added to a program, and where their elements are in a run.

#include "isomer/engine/onednn/builder.h"
#include "isomer/engine/onednn/vectors.h"
#include "isomer/engine/onednn/workspace.h"

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
  std::string implementation = own_implementation();
  std::vector<Location> from = {};
  std::optional<Location> scratch = std::nullopt;
  Location to = {};
  ValueId result = kNoValue;
  std::function<Status(Workspace&)> run = nullptr;
};
/// Emits the kernel, and sets the location of its result.
void emit_own(Builder& builder, OwnKernel kernel);

}  // namespace isomer::onednn
