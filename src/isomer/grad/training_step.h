#pragma once
// Training steps as graphs: from parameters, optimizer state and a batch of data to the loss, new parameters and new
// state.

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// Stochastic gradient descent with momentum: b = momentum b + gradient, parameter -= rate b. The state of a parameter
/// is b, at first 0. Without momentum, there is no state.
struct Sgd {
  double rate = 0.01;
  double momentum = 0.9;
};

/// Adam (Kingma and Ba, ICLR 2015). The state of a parameter is the mean of its gradients and the mean of their
/// squares. All parameters share the number of steps so far. Everything is 0 at first.
struct Adam {
  double rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

using Optimizer = std::variant<Sgd, Adam>;

/// A step as a graph. Its inputs are those of the original graph, then the state. Its outputs are those of the original
/// graph, then the new parameters in order, then the new state in the order of its inputs. The new value of an input
/// NAME is called new/NAME. Each update follows the gradient that it reads, so that engines which run the nodes in
/// their order keep neither gradients nor what these are computed from until the end.
struct TrainingStep {
  Graph graph;
  /// The inputs of `graph` that hold the parameters on which the loss depends, and the first input of the state.
  std::vector<size_t> parameters;
  size_t first_state;
};

/// Makes a training step that minimizes the value `loss` of a graph. `parameters` are inputs of the graph; those on
/// which the loss does not depend are not trained. Fails as add_gradients does, and if the loss depends on none.
Result<TrainingStep> make_training_step(const Graph& graph, ValueId loss, std::span<const ValueId> parameters,
                                        const Optimizer& optimizer);

}  // namespace isomer
