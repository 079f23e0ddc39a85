#pragma once
// Training steps of the benchmark networks.

#include <string>
#include <vector>

#include "isomer/grad/training_step.h"

namespace isomer {

/// A training step with initial values.
struct TrainingNetwork {
  Graph graph;
  /// For each input of the graph: the initial parameter or state; an empty() tensor for the data of a batch.
  std::vector<Tensor> initial;
};

/// Makes a training step of a network: its weights become parameters, with the seeded weights as initial values.
///
/// Outputs of rank 2 are scores of classes, and the loss is their cross entropy with the labels of an input `labels`.
/// From other outputs, the loss is the mean squared difference to an input `target`. The losses of several outputs are
/// added. Batch normalizations have their training form: they normalize by the statistics of the batch, and the step
/// updates the running statistics, which are state.
Result<TrainingNetwork> training_network(const std::string& name, int batch, uint64_t seed, const Optimizer& optimizer);

}  // namespace isomer
