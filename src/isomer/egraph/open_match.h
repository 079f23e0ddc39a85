#pragma once
// Completes a match whose pattern leaves some values open: equations to solve, attributes to guess, parameters to
// choose.

#include <functional>

#include "isomer/egraph/term_match.h"

namespace isomer {

/// An expression of the pattern that must have this value; within `term...`, for this repetition.
struct OpenEquation {
  const Expr* expr;
  ExprValue wanted;
  std::optional<size_t> repetition;
};

class OpenMatch {
 public:
  OpenMatch(const TermGraph& graph, const TermIndex& index, const Direction& direction, size_t max_guesses)
      : graph_(graph), index_(index), direction_(direction), guesses_left_(max_guesses) {}

  /// Calls `visit` with every completion of a binding for which the equations and the conditions of the rule hold. The
  /// bindings of named parts of the target are removed.
  void complete(const Binding& binding, const std::vector<OpenEquation>& equations,
                const std::function<void(Binding)>& visit);

 private:
  using Visit = std::function<void(Binding)>;
  bool solve_all(Binding& binding, std::vector<OpenEquation>& equations) const;
  void guess(Binding binding, const std::vector<OpenEquation>& equations, size_t i, const Visit& visit);
  void choose(Binding binding, size_t i, const Visit& visit);
  bool equations_hold(const Binding& binding, const std::vector<OpenEquation>& equations) const;
  void finish(Binding binding, const Visit& visit) const;

  const TermGraph& graph_;
  const TermIndex& index_;
  const Direction& direction_;
  size_t guesses_left_;
};

}  // namespace isomer
