#include "isomer/smt/solver.h"

#include <z3++.h>

#include <map>

namespace isomer {
namespace {

constexpr unsigned kStepLimit = 30'000;

}  // namespace

struct Solver::Impl {
  z3::context context;
  std::map<std::string, z3::expr> symbols;

  z3::expr symbol(const std::string& name) {
    auto found = symbols.find(name);
    if (found == symbols.end()) found = symbols.emplace(name, context.int_const(name.c_str())).first;
    return found->second;
  }

  z3::expr integer(const Dim& dim) {
    z3::expr_vector sum(context);
    for (const auto& [names, coefficient] : dim.terms()) {
      z3::expr product = context.int_val(coefficient);
      for (const std::string& name : names) product = product * symbol(name);
      sum.push_back(product);
    }
    return sum.empty() ? context.int_val(0) : z3::sum(sum);
  }

  z3::expr statement(const Formula& formula) {
    z3::expr_vector parts(context);
    switch (formula.kind()) {
      case Formula::Kind::True:
        return context.bool_val(true);
      case Formula::Kind::False:
        return context.bool_val(false);
      case Formula::Kind::Zero:
        return integer(formula.dim()) == 0;
      case Formula::Kind::NonNegative:
        return integer(formula.dim()) >= 0;
      case Formula::Kind::Not:
        return !statement(formula.parts()[0]);
      default:
        break;
    }
    for (const Formula& part : formula.parts()) parts.push_back(statement(part));
    return formula.kind() == Formula::Kind::And ? z3::mk_and(parts) : z3::mk_or(parts);
  }

  z3::solver with_facts(std::span<const Formula> facts) {
    z3::solver solver(context, z3::solver::simple());
    z3::params params(context);
    params.set("rlimit", kStepLimit);
    solver.set(params);
    for (const Formula& fact : facts) solver.add(statement(fact));
    return solver;
  }
};

Solver::Solver() : impl_(std::make_unique<Impl>()) {}
Solver::~Solver() = default;

std::optional<bool> Solver::satisfiable(std::span<const Formula> facts) {
  ++queries_;
  const z3::check_result result = impl_->with_facts(facts).check();
  if (result == z3::unknown) return std::nullopt;
  return result == z3::sat;
}

bool Solver::sums_to_zero(std::span<const Formula> facts, std::span<const Formula> conditions,
                          std::span<const Rational> weights) {
  ++queries_;
  z3::solver solver = impl_->with_facts(facts);
  z3::expr_vector sum(impl_->context);
  for (size_t i = 0; i < conditions.size(); ++i)
    sum.push_back(z3::ite(impl_->statement(conditions[i]), impl_->context.real_val(weights[i].str().c_str()),
                          impl_->context.real_val(0)));
  solver.add(z3::sum(sum) != 0);
  return solver.check() == z3::unsat;
}

}  // namespace isomer
