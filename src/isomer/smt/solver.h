#pragma once
// Z3 for statements about integers. Only solver.cc includes Z3.

#include <boost/multiprecision/cpp_int.hpp>
#include <memory>
#include <optional>
#include <span>

#include "isomer/smt/formula.h"

namespace isomer {

using Rational = boost::multiprecision::cpp_rational;

/// Not safe for concurrent use. Limits are in steps of the solver instead of seconds, so that the answer is the same on
/// every machine.
class Solver {
 public:
  Solver();
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// Whether some integers satisfy all facts; nullopt if this was not found out within the limit.
  std::optional<bool> satisfiable(std::span<const Formula> facts);
  /// Whether all integers that satisfy the facts make Σ weights[i]·[conditions[i]] zero. Also returns false if this was
  /// not found out within the limit.
  bool sums_to_zero(std::span<const Formula> facts, std::span<const Formula> conditions,
                    std::span<const Rational> weights);

  /// The number of questions asked. Repeated questions are cached and not counted.
  size_t queries() const;
  /// The number of questions without an answer. These take longest.
  size_t unanswered() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace isomer
