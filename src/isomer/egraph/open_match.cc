#include "isomer/egraph/open_match.h"

#include <algorithm>

#include "isomer/egraph/solve.h"
#include "isomer/rules/blocks.h"

namespace isomer {
namespace {

bool is_equation(const Expr& condition) {
  return condition.kind == Expr::Kind::Call && condition.name == "==" && condition.args.size() == 2;
}

}  // namespace

void OpenMatch::complete(const Binding& binding, const std::vector<OpenEquation>& equations, const Visit& visit) {
  if (equations.empty() && direction_.forward) return choose(binding, 0, visit);
  Binding solved = binding;
  std::vector<OpenEquation> open = equations;
  if (!solve_all(solved, open)) return;
  guess(std::move(solved), open, 0, visit);
}

/// Solves equations until nothing changes, and removes those that hold. Returns false if one does not hold.
bool OpenMatch::solve_all(Binding& binding, std::vector<OpenEquation>& equations) const {
  for (bool changed = true; changed;) {
    changed = false;
    const auto bind = [&](const Expr& expr, const ExprValue& wanted, const ExprContext& context) {
      std::vector<std::pair<std::string, ExprValue>> found;
      if (is_bound(expr, binding) || !solve(expr, wanted, context, found) || found.empty()) return;
      for (auto& entry : found) binding.attrs.push_back(std::move(entry));
      changed = true;
    };
    for (const OpenEquation& equation : equations)
      bind(*equation.expr, equation.wanted, ExprContext{binding, graph_, equation.repetition});
    for (const Expr& condition : direction_.rule.conditions) {
      if (!is_equation(condition)) continue;
      for (const size_t side : {0, 1}) {
        const ExprContext context{binding, graph_};
        if (!is_bound(condition.args[1 - side], binding)) continue;
        if (const auto value = evaluate(condition.args[1 - side], context)) bind(condition.args[side], *value, context);
      }
    }
  }
  std::vector<OpenEquation> open;
  for (const OpenEquation& equation : equations)
    if (!is_bound(*equation.expr, binding)) open.push_back(equation);
  if (!equations_hold(binding, equations)) return false;
  equations = std::move(open);
  return true;
}

bool OpenMatch::equations_hold(const Binding& binding, const std::vector<OpenEquation>& equations) const {
  return std::ranges::all_of(equations, [&](const OpenEquation& equation) {
    if (!is_bound(*equation.expr, binding)) return true;
    const auto have = evaluate(*equation.expr, ExprContext{binding, graph_, equation.repetition});
    return have && equal_values(*have, equation.wanted);
  });
}

void OpenMatch::guess(Binding binding, const std::vector<OpenEquation>& equations, size_t i, const Visit& visit) {
  if (i == direction_.guesses.size()) {
    if (equations.empty()) choose(std::move(binding), 0, visit);
    return;
  }
  const Direction::Guess& open = direction_.guesses[i];
  if (binding.attr(open.name) != nullptr || binding.record(open.name) != nullptr)
    return guess(std::move(binding), equations, i + 1, visit);
  const auto with = [&](const auto& add) {
    if (guesses_left_ == 0) return;
    --guesses_left_;
    Binding guessed = binding;
    add(guessed);
    std::vector<OpenEquation> rest = equations;
    if (solve_all(guessed, rest)) guess(std::move(guessed), rest, i + 1, visit);
  };
  if (open.attr.empty()) {
    for (const Attrs& record : index_.records(*open.op, open.without))
      with([&](Binding& guessed) { guessed.records.emplace_back(open.name, record); });
  } else {
    for (const ExprValue& value : index_.values(*open.op, open.attr))
      with([&](Binding& guessed) { guessed.attrs.emplace_back(open.name, value); });
  }
}

void OpenMatch::choose(Binding binding, size_t i, const Visit& visit) {
  if (i == direction_.rule.choices.size()) return finish(std::move(binding), visit);
  const Choice& choice = direction_.rule.choices[i];
  const auto candidates = evaluate(choice.candidates, ExprContext{binding, graph_});
  const Dims* list = candidates ? std::get_if<Dims>(&*candidates) : nullptr;
  if (list == nullptr) return;
  const ExprValue* solved = binding.attr(choice.name);
  for (const Dim& value : *list) {
    if (!may_choose(choice, value) || (solved != nullptr && !equal_values(*solved, value))) continue;
    Binding chosen = binding;
    if (solved == nullptr) chosen.attrs.emplace_back(choice.name, value);
    choose(std::move(chosen), i + 1, visit);
    // The same terms with every block would only fill the graph, unless the device prefers several.
    if (choice.block && solved == nullptr && choice.preferred.empty()) break;
  }
}

void OpenMatch::finish(Binding binding, const Visit& visit) const {
  const ExprContext context{binding, graph_};
  const auto& conditions = direction_.rule.conditions;
  if (!std::ranges::all_of(conditions, [&](const Expr& condition) { return is_met(condition, context); })) return;
  for (const Let& let : direction_.rule.lets) {
    std::erase_if(binding.values, [&](const auto& entry) { return entry.first == let.name; });
    std::erase_if(binding.sequences, [&](const auto& entry) { return entry.first == let.name; });
  }
  visit(std::move(binding));
}

}  // namespace isomer
