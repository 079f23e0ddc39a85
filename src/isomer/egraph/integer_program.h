#pragma once
// Integer linear programs, solved by CBC. The only code that includes its headers is integer_program.cc.

#include <cstdint>
#include <utility>
#include <vector>

#include "isomer/base/deadline.h"

namespace isomer {

/// Minimizes the sum of `cost` times the variables, subject to the rows.
struct IntegerProgram {
  /// A variable from 0 to `high`.
  struct Variable {
    double cost = 0;
    double high = 1;
    bool integer = true;
  };
  /// The sum of factors times variables (by index) must be at least `low`.
  struct Row {
    std::vector<std::pair<uint32_t, double>> terms = {};
    double low = 0;
  };
  std::vector<Variable> variables = {};
  std::vector<Row> rows = {};
};

struct IntegerSolution {
  std::vector<double> values = {};  ///< empty: no solution below the given cost was found
  double bound = 0;                 ///< no solution costs less
  bool proved = false;              ///< all solutions below the given cost were ruled out, or the best one is returned
};

/// Looks for the cheapest solution that costs less than `below`. Branch and bound on one thread: equal programs give
/// equal solutions, unless the deadline ends it. `below` must be above 0.
IntegerSolution minimize(const IntegerProgram& program, double below, const Deadline& end);

}  // namespace isomer
