#pragma once
// What a search is given.

#include <span>

#include "isomer/base/observer.h"
#include "isomer/ops/work.h"
#include "isomer/rules/rule.h"
#include "isomer/search/evaluator.h"
#include "isomer/search/options.h"

namespace isomer {

/// How a search divides its time: shares of what is left when the work begins.
inline constexpr struct {
  double kernels = 0.5;          ///< measuring the kernels of the first graph, before any search
  double more_kernels = 0.7;     ///< the same, of what is left then, if runs of graphs take too long
  double by_costs = 0.5;         ///< auto: greedy with costs only
  double greedy = 0.7;           ///< auto: both greedy searches; those of parts may find what this is not enough for
  double first = 0.6;            ///< auto: the parts of greedy's result; the rest is for those of the simplified model
  double backtrack = 0.5;        ///< auto: of the time of a part; the rest is for beam search
  double autograph = 0.5;        ///< one round's search of the parts; then its graphs are measured
  double autograph_again = 0.8;  ///< the same, if the share was not enough to find a faster graph
  double parts = 0.7;            ///< the search of the parts; then its result is measured
  double variants = 0.5;         ///< searches of the parts without one of the rules begin within it
} kTimeShares;

/// When `auto` ends if no time budget is given and graphs are timed: so many seconds after it began, plus this many
/// times what measuring the model's kernels took. Longer searches of the benchmark networks found nothing better
/// (docs/measurements/search-speed.md).
struct EnoughTime {
  double seconds = 10;
  double kernels = 1.5;
};

/// What a search needs in addition to its options.
struct SearchContext {
  std::span<const Rule> rules;
  std::span<const Tactic> tactics;
  Evaluator& evaluator;  ///< must have costs
  SymbolValues symbols = {};
  Budget budget = {.candidates = SearchOptions().max_candidates};  ///< its candidates are those of each part
  EnoughTime enough = {};
  size_t cores = 1;        ///< on which kernels may run side by side
  Observer observer = {};  ///< records the searches with their steps
};

}  // namespace isomer
