#include "isomer/rules/formula.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isomer/ir/text.h"

namespace isomer {
namespace {

/// The infix notation of a term; nullptr if it has none.
const Infix* infix_of(const Term& term) {
  if (term.kind != Term::Kind::Apply || term.operands.size() != 2 || !term.attrs.empty() || !term.rest.empty())
    return nullptr;
  if (term.operands[0].repeated || term.operands[1].repeated) return nullptr;
  return term.op->infix ? &*term.op->infix : nullptr;
}

/// The expression without the sigils of its variables.
Expr bare(Expr expr) {
  if (expr.kind == Expr::Kind::Variable && !expr.name.empty() && (expr.name[0] == '?' || expr.name[0] == '@'))
    expr.name.erase(0, 1);
  for (Expr& arg : expr.args) arg = bare(std::move(arg));
  return expr;
}

std::string expr_formula(const Expr& expr) { return print_expr(bare(expr)); }

/// "2" for 2.0; only the rule language needs the decimal point.
std::string number_formula(double number) {
  std::string text = float_str(number, false);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string term_formula(const Term& term);

/// An operand of an infix operator, in parentheses if its own operator has lower precedence.
std::string operand_formula(const Term& term, const Infix& around, bool right) {
  const Infix* inner = infix_of(term);
  const bool same = inner != nullptr && inner->precedence == around.precedence;
  // There are several kinds of products, and readers would not know an order of precedence among them.
  const bool loose =
      inner != nullptr && (inner->precedence < around.precedence || (same && right && !around.associative) ||
                           (same && around.precedence == Infix::Precedence::Product && inner->sign != around.sign));
  return loose ? "(" + term_formula(term) + ")" : term_formula(term);
}

/// A term in function notation: "Conv[strides=s, c](x, w)".
std::string application(const Term& term) {
  std::vector<std::string> attrs;
  std::vector<std::string> operands;
  for (const auto& [name, value] : term.attrs) attrs.push_back(name + "=" + expr_formula(value));
  if (!term.rest.empty()) attrs.push_back(term.rest);
  for (const Term& operand : term.operands) operands.push_back(term_formula(operand));
  return fmt::format("{}{}({})", term.op->name, attrs.empty() ? "" : fmt::format("[{}]", fmt::join(attrs, ", ")),
                     fmt::join(operands, ", "));
}

std::string term_formula(const Term& term) {
  std::string out;
  switch (term.kind) {
    case Term::Kind::Value:
    case Term::Kind::Sequence:
      out = term.name;
      break;
    case Term::Kind::Literal:
      out = number_formula(term.literal);
      break;
    case Term::Kind::Integers:
      out = expr_formula(term.integers);
      break;
    case Term::Kind::Apply:
      if (const Infix* infix = infix_of(term)) {
        out = fmt::format("{}{}{}", operand_formula(term.operands[0], *infix, false), infix->sign,
                          operand_formula(term.operands[1], *infix, true));
      } else {
        out = application(term);
      }
  }
  return out + (term.repeated ? ", …" : "");
}

std::string list_formula(const std::vector<Term>& terms) {
  std::vector<std::string> parts;
  parts.reserve(terms.size());
  for (const Term& term : terms) parts.push_back(term_formula(term));
  return fmt::format("{}", fmt::join(parts, ",  "));
}

}  // namespace

std::string rule_formula(const Rule& rule) {
  std::string out = fmt::format("{}\n⟹ {}\n", list_formula(rule.sources), list_formula(rule.targets));
  for (const Let& let : rule.lets) out += fmt::format("with {} = {}\n", let.name, term_formula(let.term));
  for (const Choice& choice : rule.choices)
    out += fmt::format("for any {} in {}\n", choice.name, expr_formula(choice.candidates));
  std::vector<std::string> conditions;
  conditions.reserve(rule.conditions.size());
  for (const Expr& condition : rule.conditions) conditions.push_back(expr_formula(condition));
  return conditions.empty() ? out : out + fmt::format("where {}\n", fmt::join(conditions, ", "));
}

}  // namespace isomer
