#pragma once
// Helpers for kernels that are not oneDNN's: how they are added to a program, and where their elements are in a run.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "isomer/engine/onednn/lower.h"
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

/// The posts of a kernel of our own, and where the values are that it adds.
class LocatedPosts {
 public:
  /// `posts` are those that `own_posts` returned for `ops`. Emits changes of layout if values are not in the layout of
  /// the result.
  LocatedPosts(Builder& builder, const PostOps& ops, const OwnPosts& posts);

  /// Returns where values that are added are.
  std::span<const Location> added() const { return added_; }
  /// Returns the first of them if a kernel may write its result over it that reads `src` elsewhere.
  std::optional<Location> over(const Location& src) const;
  /// Returns the posts for a run.
  OwnPosts in(const Workspace& workspace) const;

 private:
  OwnPosts posts_;
  std::vector<size_t> which_ = {};  // posts that add
  std::vector<Location> added_ = {};
};

/// Where a kernel with a bias and posts finds what it needs in a run.
struct FinishArguments {
  const float* bias = nullptr;  ///< nullptr: none
  float* result = nullptr;
  OwnPosts posts = {};
};
/// Emits a kernel with a bias and posts, which `run` runs.
void emit_own(Builder& builder, OwnKernel kernel, const std::optional<Location>& bias, const LocatedPosts& posts,
              std::function<void(const Workspace&, const FinishArguments&)> run);

/// Zeros for trials.
class TrialFloats {
 public:
  explicit TrialFloats(int64_t count);
  float* data() const { return reinterpret_cast<float*>(bytes_.data()); }
  std::span<const std::byte> bytes() const { return bytes_.span(); }

 private:
  AlignedBytes bytes_;
};

}  // namespace isomer::onednn
