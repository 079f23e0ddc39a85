#pragma once
// One random graph, rewritten at random, and computed by everything that can.

#include <map>
#include <optional>

#include "chain.h"
#include "executor.h"

namespace isomer::differential {

/// The seeds of trials, by what happened in them.
using Seeds = std::map<std::string, std::vector<uint64_t>>;

struct Finding {
  uint64_t seed;
  std::string where;  ///< "rule NAME", "reference", "ort"
  std::string text;
};

/// What many trials add up to.
struct Tally {
  size_t graphs = 0;
  size_t rewritten = 0;  ///< graphs to which a rule applied
  size_t steps = 0;
  size_t exact = 0;                     ///< equal in the prime field, or on whole numbers
  Seeds not_exact;                      ///< rewritten graphs that are close in double precision, by the reason
  std::map<std::string, size_t> fired;  ///< steps, by rule
  struct Runs {
    size_t graphs = 0;    ///< that ran, rewritten or not
    size_t outputs = 0;   ///< compared
    size_t unstable = 0;  ///< outputs too far from the truth after any rounding
    double furthest = 0;
    /// Graphs of which only its own optimizer makes something wrong, before any rewriting.
    std::vector<uint64_t> broken;
    /// Rewritten graphs of which only its own optimizer makes something wrong, though what they came from is right.
    std::vector<uint64_t> broken_rewritten;
    Seeds refused;  ///< graphs, by the reason
    /// Rewritten graphs that it refuses though it ran what they came from, by the reason.
    Seeds refused_rewritten;
  };
  std::map<std::string, Runs> runs;  ///< by executor
  std::vector<Finding> findings;
};

/// The graph of this seed and what random rewrites make of it.
struct Rewritten {
  RandomGraph from;
  std::vector<Step> steps;
};
Rewritten rewritten(const std::vector<Rule>& rules, uint64_t seed);

/// Tries the graph of this seed.
void attempt(const std::vector<Rule>& rules, const std::vector<Executor>& executors, uint64_t seed, Tally& tally);

}  // namespace isomer::differential
