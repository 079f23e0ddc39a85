#pragma once
// Batch normalizations in training form: by the mean and the variance of the batch, which are mixed into the running
// ones.

#include "isomer/ir/graph.h"
#include "isomer/ops/node_writer.h"

namespace isomer {

/// The operands of a batch normalization.
struct BatchNormOperands {
  enum Operand : size_t { kData, kScale, kBias, kMean, kVariance };
};

/// Whether a node is a batch normalization in inference form.
bool is_batch_norm(const Node& node);

/// The result of a batch normalization, and its new running statistics, [channels].
struct WrittenBatchNorm {
  GraphValue y, mean, variance;
};

/// Writes a batch normalization, of any form, in training form as ordinary operators. `sample`: like PyTorch, mixes in
/// the variance as it is estimated from a sample; ONNX's operator mixes in that of the batch itself. Refuses other than
/// known extents if `sample`. Computes in the element type of the running mean.
WrittenBatchNorm written_batch_norm(NodeWriter& node, bool sample);

/// A graph whose batch normalizations are in training form, written as ordinary operators.
struct BatchStatistics {
  Graph graph;                       ///< further outputs are the new running statistics
  std::vector<std::string> outputs;  ///< the names of these: new/NAME for the input NAME
  std::vector<std::string> frozen;   ///< names of inputs that are running statistics without a new value
  size_t batch = 0;                  ///< the number of normalizations in training form,
  size_t running = 0;                ///< and of those that still have running statistics
};

/// Writes the batch normalizations that a graph has in training form (ONNX's attribute training_mode) as ordinary
/// operators; if `all`, also those in inference form. New running statistics are outputs where the running ones are
/// inputs that nothing else reads. Fails if a normalization cannot be written.
Result<BatchStatistics> with_batch_statistics(const Graph& graph, bool all);

}  // namespace isomer
