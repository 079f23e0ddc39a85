#include "isomer/smt/solver.h"

#include <z3++.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace isomer {
namespace {

constexpr unsigned kStepLimit = 30'000;
constexpr unsigned kFewSteps = 3'000;

/// Whether symbols are multiplied by each other.
bool has_products(const Formula& formula) {
  if (formula.kind() == Formula::Kind::Zero || formula.kind() == Formula::Kind::NonNegative)
    return std::ranges::any_of(formula.dim().terms(), [](const auto& term) { return term.first.size() > 1; });
  return !formula.is_true() && !formula.is_false() && std::ranges::any_of(formula.parts(), has_products);
}

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

  /// The formula, translated once.
  struct Translated {
    z3::expr statement;
    bool products;  ///< symbols are multiplied by each other
  };
  const Translated& translated(const Formula& formula) {
    const auto found = known.find(formula.str());
    if (found != known.end()) return found->second;
    return known.emplace(formula.str(), Translated{statement(formula), has_products(formula)}).first->second;
  }

  /// What Z3 is asked: all of these.
  struct Question {
    z3::expr_vector facts;
    bool products = false;
  };
  Question question(std::span<const Formula> facts) {
    Question out{z3::expr_vector(context)};
    for (const Formula& fact : facts) {
      const Translated& one = translated(fact);
      out.facts.push_back(one.statement);
      out.products = out.products || one.products;
    }
    return out;
  }

  z3::solver limited(unsigned steps, bool nonlinear) {
    z3::solver solver(context, z3::solver::simple());
    z3::params params(context);
    params.set("rlimit", steps);
    params.set("arith.nl", nonlinear);
    params.set("arith.enable_hnf", false);  // its numbers grow without end, and no step is counted meanwhile
    solver.set(params);
    return solver;
  }

  /// Asks a solver that stays, and takes products as unknowns, first: to set up another takes longer than most answers.
  std::optional<bool> satisfiable(const Question& question) {
    ++queries;
    staying.push();
    staying.add(question.facts);
    z3::check_result result = staying.check();
    staying.pop();
    if (result == z3::unknown || (result == z3::sat && question.products)) {
      z3::solver fresh = limited(kStepLimit, true);
      fresh.add(question.facts);
      result = fresh.check();
    }
    if (result != z3::unknown) return result == z3::sat;
    ++unanswered;
    return std::nullopt;
  }

  std::unordered_map<std::string, Translated> known;  ///< by the text of the formula
  z3::solver staying = limited(kFewSteps, false);
  std::unordered_map<std::string, std::optional<bool>> answers;  ///< by the text of the question
  size_t queries = 0;
  size_t unanswered = 0;
};

Solver::Solver() : impl_(std::make_unique<Impl>()) {}
Solver::~Solver() = default;

size_t Solver::queries() const { return impl_->queries; }
size_t Solver::unanswered() const { return impl_->unanswered; }

std::optional<bool> Solver::satisfiable(std::span<const Formula> facts) {
  std::string text;
  for (const Formula& fact : facts) text += fact.str() + "; ";
  const auto [known, fresh] = impl_->answers.try_emplace(std::move(text));
  if (fresh) known->second = impl_->satisfiable(impl_->question(facts));
  return known->second;
}

bool Solver::sums_to_zero(std::span<const Formula> facts, std::span<const Formula> conditions,
                          std::span<const Rational> weights) {
  std::string text;
  for (const Formula& fact : facts) text += fact.str() + "; ";
  for (size_t i = 0; i < conditions.size(); ++i) text += "+ " + weights[i].str() + " [" + conditions[i].str() + "]";
  const auto [known, fresh] = impl_->answers.try_emplace(std::move(text));
  if (fresh) {
    Impl::Question question = impl_->question(facts);
    z3::expr_vector sum(impl_->context);
    for (size_t i = 0; i < conditions.size(); ++i) {
      const Impl::Translated& condition = impl_->translated(conditions[i]);
      question.products = question.products || condition.products;
      sum.push_back(
          z3::ite(condition.statement, impl_->context.real_val(weights[i].str().c_str()), impl_->context.real_val(0)));
    }
    question.facts.push_back(z3::sum(sum) != 0);
    known->second = impl_->satisfiable(question);
  }
  return known->second == false;
}

}  // namespace isomer
