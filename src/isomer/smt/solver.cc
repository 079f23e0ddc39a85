#include "isomer/smt/solver.h"

#include <z3++.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "isomer/smt/models.h"
#include "isomer/smt/products.h"

namespace isomer {
namespace {

constexpr unsigned kStepLimit = 30'000;
constexpr unsigned kFewSteps = 3'000;
/// A time limit for steps in which numbers grow without bound, which the step limit does not count. No verdict in the
/// lock depends on it.
constexpr unsigned kMilliseconds = 10'000;

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

  /// A formula and its translation.
  struct Translated {
    Formula formula;
    z3::expr statement;
    NumberedFormula numbered;
    bool products;  ///< symbols are multiplied by each other
  };
  const Translated& translated(const Formula& formula) {
    const auto found = known.find(formula.str());
    if (found != known.end()) return found->second;
    Translated made{formula, statement(formula), NumberedFormula(formula, ids), has_products(formula)};
    return known.emplace(formula.str(), std::move(made)).first->second;
  }

  /// Asks whether all facts hold and, if there are terms, Σ weight·[condition] is not 0.
  struct Question {
    std::vector<const Translated*> facts;
    std::vector<std::pair<const Translated*, Rational>> terms;

    bool holds(const Models::Model& model) const {
      for (const Translated* fact : facts)
        if (fact->numbered.holds(model) != true) return false;
      if (terms.empty()) return true;
      Rational sum = 0;
      for (const auto& [condition, weight] : terms) {
        const auto counts = condition->numbered.holds(model);
        if (!counts) return false;
        if (*counts) sum += weight;
      }
      return sum != 0;
    }
    /// The content of the question, independent of the names of symbols.
    std::string key() const {
      std::string out = std::to_string(facts.size()) + " ";
      Renumbering renumbering;
      for (const Translated* fact : facts) fact->numbered.append_to(out, renumbering);
      for (const auto& [condition, weight] : terms) {
        out += "+" + weight.str() + " ";
        condition->numbered.append_to(out, renumbering);
      }
      return out;
    }
    bool products() const {
      return std::ranges::any_of(facts, [](const Translated* fact) { return fact->products; }) ||
             std::ranges::any_of(terms, [](const auto& term) { return term.first->products; });
    }
  };
  Question question(std::span<const Formula> facts) {
    Question out;
    for (const Formula& fact : facts) out.facts.push_back(&translated(fact));
    return out;
  }

  void add(z3::solver& solver, const Question& question) {
    for (const Translated* fact : question.facts) solver.add(fact->statement);
    if (question.terms.empty()) return;
    z3::expr_vector sum(context);
    for (const auto& [condition, weight] : question.terms)
      sum.push_back(z3::ite(condition->statement, context.real_val(weight.str().c_str()), context.real_val(0)));
    solver.add(z3::sum(sum) != 0);
  }

  z3::solver limited(unsigned steps, bool nonlinear) {
    z3::solver solver(context, z3::solver::simple());
    z3::params params(context);
    params.set("rlimit", steps);
    if (nonlinear) params.set("timeout", kMilliseconds);  // starting a timer takes longer than most linear questions
    params.set("arith.nl", nonlinear);
    params.set("arith.enable_hnf", false);  // its numbers can grow without bound in a single step
    solver.set(params);
    return solver;
  }

  /// The integers with which the solver has just satisfied the question.
  Models::Model model_of(const z3::solver& solver) {
    Models::Model out(ids.size(), 0);
    const z3::model model = solver.get_model();
    for (unsigned i = 0; i < model.num_consts(); ++i) {
      const z3::func_decl symbol = model.get_const_decl(i);
      const auto id = ids.find(symbol.name().str());
      int64_t value = 0;
      if (id != ids.end() && model.get_const_interp(symbol).is_numeral_i64(value)) out[id->second] = value;
    }
    return out;
  }

  /// Whether the solver's model also satisfies the question: it may have treated products as unknowns. If so, keeps it.
  bool confirmed(const z3::solver& solver, const Question& question) {
    Models::Model model = model_of(solver);
    if (!question.holds(model)) return false;
    models.remember(std::move(model));
    return true;
  }

  std::optional<bool> answer(const Question& question) {
    const auto [answered, fresh] = answers.try_emplace(question.key());
    if (fresh) answered->second = satisfiable(question);
    return answered->second;
  }

  /// First asks a persistent solver, which treats products as unknowns: creating a solver takes longer than most
  /// answers. Consequences of the facts about these products are added if it needs them.
  std::optional<bool> satisfiable(const Question& question) {
    if (models.any([&](const Models::Model& model) { return question.holds(model); })) return true;
    ++queries;
    staying.push();
    add(staying, question);
    z3::check_result result = staying.check();
    const bool holds = result == z3::sat && confirmed(staying, question);
    staying.pop();
    const bool open = result == z3::unknown || (result == z3::sat && !holds && question.products());
    if (open && refuted_with_products(question)) return false;
    if (open) {
      z3::solver fresh = limited(kStepLimit, true);
      add(fresh, question);
      result = fresh.check();
      if (result == z3::sat) confirmed(fresh, question);
    }
    if (result != z3::unknown) return result == z3::sat;
    ++unanswered;
    return std::nullopt;
  }

  /// Whether linear arithmetic refutes the question together with products of its facts.
  bool refuted_with_products(const Question& question) {
    std::vector<Formula> facts;
    for (const Translated* fact : question.facts) facts.push_back(fact->formula);
    const std::vector<Formula> products = products_of_facts(facts);
    if (products.empty()) return false;
    staying.push();
    add(staying, question);
    for (const Formula& product : products) staying.add(statement(product));
    const bool refuted = staying.check() == z3::unsat;
    staying.pop();
    return refuted;
  }

  SymbolIds ids;
  Models models;
  std::unordered_map<std::string, Translated> known;  ///< by text of the formula
  z3::solver staying = limited(kFewSteps, false);
  std::unordered_map<std::string, std::optional<bool>> answers;  ///< by key of the question
  size_t queries = 0;
  size_t unanswered = 0;
};

Solver::Solver() : impl_(std::make_unique<Impl>()) {}
Solver::~Solver() = default;

size_t Solver::queries() const { return impl_->queries; }
size_t Solver::unanswered() const { return impl_->unanswered; }

std::optional<bool> Solver::satisfiable(std::span<const Formula> facts) {
  return impl_->answer(impl_->question(facts));
}

bool Solver::sums_to_zero(std::span<const Formula> facts, std::span<const Formula> conditions,
                          std::span<const Rational> weights) {
  Impl::Question question = impl_->question(facts);
  for (size_t i = 0; i < conditions.size(); ++i)
    question.terms.emplace_back(&impl_->translated(conditions[i]), weights[i]);
  return impl_->answer(question) == false;
}

}  // namespace isomer
