#pragma once
// What a graph gives in double precision, and how far single precision may be from it.

#include <string>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer::differential {

/// Random inputs: reals of either sign, or all positive; integers that are indices of any axis where there are reals.
std::vector<Tensor> draw_inputs(const Graph& graph, bool positive, uint64_t seed);

/// The graph with doubles for floats, elements of constants and attributes included.
Result<Graph> in_double(const Graph& graph);

/// The outputs of a graph in double precision, and for each how far rounding to floats may lead from there: what comes
/// of disturbing every operand and result by some units in a float's last place.
struct Truth {
  std::vector<Tensor> outputs;
  std::vector<double> spread;
  std::vector<bool> finite;  ///< whether all values that the output depends on are finite
};
Result<Truth> truth_of(const Graph& graph, const std::vector<Tensor>& inputs);

/// For each output, whether all values that it depends on are finite in double precision. Rules hold for real numbers,
/// so a rewritten graph may otherwise have other results: -inf * (1 - x) is infinite, but -inf - (-inf * x) is NaN.
Result<std::vector<bool>> finite_outputs(const Graph& graph, const std::vector<Tensor>& inputs);

/// The graph with only those of its outputs that are marked.
Graph with_outputs(const Graph& graph, const std::vector<bool>& marked);

/// How what another graph, or another executor, gave compares with the truth.
struct Agreement {
  std::string problem;  ///< empty: all outputs agree
  size_t compared = 0;  ///< outputs
  size_t unstable =
      0;  ///< outputs whose spread leaves nothing to compare, or that depend on values that are not finite
  double furthest = 0;  ///< largest difference, in units of what was allowed
};
/// `spread` is that of the graph that gave `got`.
Agreement agreement(const std::vector<Tensor>& got, const Truth& truth, const std::vector<double>& spread);

}  // namespace isomer::differential
