#pragma once
// Runs of a plan by itself in which its weights come from as far away as within a larger model.

#include <memory>
#include <span>
#include <vector>

#include "isomer/runtime/onednn/plan.h"

namespace isomer::onednn {

/// Runs a plan over and over, each time with another copy of its constants, and in another arena. A copy is read again
/// after all the others of its group were, as a weight in a model is after all other weights; code is near. Where a
/// model reads some weights several times in a row and then leaves them, groups take turns. Serves one run after the
/// other.
class Rotation {
 public:
  struct Options {
    size_t copies = 1;  ///< of all constants, in a group; fewer where they would take more bytes than `most`
    size_t groups = 1;  ///< likewise
    size_t rounds = 1;  ///< of a group, before the next group's turn
    size_t most = size_t{512} << 20;
    size_t arenas = 1;
    size_t kernels = 0;  ///< runs end after the first so many
  };
  /// Keeps a reference.
  Rotation(const Plan& plan, const Options& options);
  ~Rotation();
  Rotation(const Rotation&) = delete;
  Rotation& operator=(const Rotation&) = delete;

  /// Runs with the next copy, in the next arena. When each kernel ran, in the order of Plan::kernels; what they make is
  /// forgotten.
  Result<std::vector<KernelSpan>> run(std::span<const Tensor> inputs);
  /// Copies in a group.
  size_t copies() const;
  /// Runs until all copies have had all their rounds.
  size_t cycle() const;
  /// Whether the next run reads a copy for the first time after other groups had their turns.
  bool next_returns() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isomer::onednn
