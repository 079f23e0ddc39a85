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
  bool numbers = true;  ///< all values of the graph are finite
};
Result<Truth> truth_of(const Graph& graph, const std::vector<Tensor>& inputs);

/// Whether a value of the graph is infinite or not a number in double precision. Rules hold for real numbers, so a
/// rewritten graph may then have other results: -inf * (1 - x) is infinite, but -inf - (-inf * x) is not a number.
bool leaves_numbers(const Graph& graph, const std::vector<Tensor>& inputs);

/// How what another graph, or another executor, gave compares with the truth.
struct Agreement {
  std::string problem;  ///< empty: all outputs agree
  size_t compared = 0;  ///< outputs
  size_t unstable = 0;  ///< outputs whose spread leaves nothing to compare, or that may come from what is no number
  double furthest = 0;  ///< largest difference, in units of what was allowed
};
/// `spread` is that of the graph that gave `got`.
Agreement agreement(const std::vector<Tensor>& got, const Truth& truth, const std::vector<double>& spread);

}  // namespace isomer::differential
