#pragma once
// Runs a plan so that its weights are as far away as within a larger model.

#include <memory>
#include <span>
#include <vector>

#include "isomer/engine/onednn/far_memory.h"
#include "isomer/engine/onednn/plan.h"

namespace isomer::onednn {

/// Runs a plan repeatedly, each time with another copy of its constants and in another arena. Copies of large constants
/// have other numbers, since these take equally long; only a single copy gives meaningful outputs. A copy is read again
/// after all others of its group, as a weight in a model is read again after all other weights; code stays near. If a
/// model reads some weights several times in a short span, groups take turns. Not thread-safe.
class Rotation {
 public:
  struct Options {
    size_t copies = 1;  ///< of all constants, in a group; fewer if they would take more bytes than `max_bytes`
    size_t groups = 1;  ///< likewise
    size_t rounds = 1;  ///< of a group, before the next group's turn
    size_t max_bytes = size_t{512} << 20;
    size_t arenas = 1;
    size_t kernels = 0;  ///< runs end after this many kernels
    size_t makers = 0;   ///< this many kernels at the beginning run only once; their results stay for the others
  };
  /// Keeps references. Until it ends, nothing else may reserve memory in `far`.
  Rotation(const Plan& plan, FarMemory& far, const Options& options);
  ~Rotation();
  Rotation(const Rotation&) = delete;
  Rotation& operator=(const Rotation&) = delete;

  /// Runs with the next copy, in the next arena; always with the same inputs. Before, writes again what the kernels
  /// read, as if earlier kernels had just made it. Returns when each kernel ran, in the order of Plan::kernels.
  Result<std::vector<KernelSpan>> run(std::span<Tensor> inputs);
  /// The outputs of the last run, if it ran all kernels.
  std::span<const Tensor> outputs() const;
  /// Number of copies in a group.
  size_t copies() const;
  /// Number of runs until all copies have had all their rounds.
  size_t cycle() const;
  /// Returns whether the next run is the first to read a copy after other groups had their turns.
  bool next_returns() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isomer::onednn
