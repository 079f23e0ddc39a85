#pragma once
// Z3 for statements about integers. The only code that includes Z3 stands in solver.cc.

#include <boost/multiprecision/cpp_int.hpp>
#include <memory>
#include <optional>
#include <span>

#include "isomer/smt/formula.h"

namespace isomer {

using Rational = boost::multiprecision::cpp_rational;

/// Not to be used by two threads at once. Limits are counted in steps of the solver, not in seconds, so that the answer
/// is the same on every machine.
class Solver {
 public:
  Solver();
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// Whether some integers satisfy all facts; nothing where that was not found out within the limit.
  std::optional<bool> satisfiable(std::span<const Formula> facts);
  /// Whether every integers that satisfy the facts make Σ weights[i]·[conditions[i]] zero. False also where that was
  /// not found out within the limit.
  bool sums_to_zero(std::span<const Formula> facts, std::span<const Formula> conditions,
                    std::span<const Rational> weights);

  /// How many questions were asked; what was asked before in the same words costs nothing.
  size_t queries() const;
  /// To how many of them no answer was found: these take longest.
  size_t unanswered() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace isomer
