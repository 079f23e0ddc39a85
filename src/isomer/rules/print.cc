// Prints rules as text.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "isomer/base/hash.h"
#include "isomer/ir/text.h"
#include "isomer/rules/rule.h"

namespace isomer {
namespace {

std::string joined(const std::vector<Expr>& exprs) {
  std::vector<std::string> parts;
  parts.reserve(exprs.size());
  for (const Expr& expr : exprs) parts.push_back(print_expr(expr));
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool is_infix(const Expr& expr) {
  return expr.kind == Expr::Kind::Call && expr.name != "at" && expr.name != "not" && expr.args.size() == 2 &&
         (std::isalpha(static_cast<unsigned char>(expr.name[0])) == 0 || expr.name == "and" || expr.name == "or");
}

/// Operands of infix operators always have parentheses if they are infix themselves, so the output is unambiguous and
/// uniform.
std::string operand(const Expr& expr) {
  const bool bracket = is_infix(expr) || (expr.kind == Expr::Kind::Call && expr.name == "not");
  return bracket ? "(" + print_expr(expr) + ")" : print_expr(expr);
}

/// The text as comment lines.
std::string comment(const std::string& doc) {
  std::string out;
  for (size_t begin = 0; !doc.empty() && begin <= doc.size();) {
    const size_t end = std::min(doc.find('\n', begin), doc.size());
    out += (end == begin ? "#" : "# ") + doc.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return out;
}

}  // namespace

std::string print_expr(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::Integer:
      return std::to_string(expr.integer);
    case Expr::Kind::Real:
      return float_str(expr.real, false);
    case Expr::Kind::Text:
      return isomer::quoted(expr.name);
    case Expr::Kind::List:
      return "[" + joined(expr.args) + "]";
    case Expr::Kind::Variable:
      return expr.name;
    case Expr::Kind::Field:
      return print_expr(expr.args[0]) + "." + expr.name;
    case Expr::Kind::Call:
      break;
  }
  if (expr.name == "at") return operand(expr.args[0]) + "[" + print_expr(expr.args[1]) + "]";
  if (expr.name == "not") return "not " + operand(expr.args[0]);
  if (is_infix(expr)) return operand(expr.args[0]) + " " + expr.name + " " + operand(expr.args[1]);
  return expr.name + "(" + joined(expr.args) + ")";
}

std::string print_term(const Term& term) {
  std::string out;
  switch (term.kind) {
    case Term::Kind::Value:
      out = "?" + term.name;
      break;
    case Term::Kind::Sequence:
      out = "@" + term.name;
      break;
    case Term::Kind::Literal:
      out = float_str(term.literal, false);
      break;
    case Term::Kind::Integers:
      out = "{" + operand(term.integers) + "}";
      break;
    case Term::Kind::Apply:
      out = "(" + (term.op_variable.empty() ? term.op->name : term.op_variable);
      if (!term.rest.empty()) out += " .." + term.rest;
      for (const auto& [name, value] : term.attrs) out += " " + name + "=" + operand(value);
      for (const Term& operand : term.operands) out += " " + print_term(operand);
      out += ')';
  }
  return out + (term.repeated ? "..." : "");
}

namespace {

/// What stands after the name of a rule.
std::string print_body(const Rule& rule) {
  const auto terms = [](const std::vector<Term>& list) {
    std::vector<std::string> parts;
    parts.reserve(list.size());
    for (const Term& term : list) parts.push_back(print_term(term));
    return fmt::format("{}", fmt::join(parts, ", "));
  };
  std::string out = fmt::format("  {}\n", terms(rule.sources));
  for (const Choice& choice : rule.choices)
    out +=
        fmt::format("  choose {}?{} in {}\n", choice.block ? "block " : "", choice.name, print_expr(choice.candidates));
  out += "  =>";
  for (const Let& let : rule.lets)
    out += fmt::format(" let {}{} = {}\n    ", let.sequence ? "@" : "?", let.name, print_term(let.term));
  out += " " + terms(rule.targets) + "\n";
  for (size_t i = 0; i < rule.conditions.size(); ++i)
    out += fmt::format("  {} {}\n", i == 0 ? "where" : "  and",
                       rule.conditions[i].name == "or" ? operand(rule.conditions[i]) : print_expr(rule.conditions[i]));
  return out;
}

/// The lines of a rule's content.
std::string print_content(Rule rule) {
  for (Choice& choice : rule.choices) choice.block = false;
  return print_body(rule);
}

}  // namespace

std::string print_tactic(const Tactic& tactic) {
  std::string out = comment(tactic.doc);
  out += "tactic " + tactic.name + "\n";
  for (const Tactic::Stage& stage : tactic.stages) {
    out += fmt::format("  seed {}\n", fmt::join(stage.seeds, ", "));
    if (!stage.then.empty()) out += fmt::format("  then {}\n", fmt::join(stage.then, ",\n    "));
  }
  return out;
}

std::string print_rule(const Rule& rule) {
  return fmt::format("{}rule {}\n{}", comment(rule.doc), rule.name, print_body(rule));
}

std::string print_family(const RuleFamily& family) {
  std::vector<std::string_view> ops;
  ops.reserve(family.ops.size());
  for (const OpDef* op : family.ops) ops.push_back(op->name);
  const Rule& rule = family.written;
  return fmt::format("{}rule {}\n  for {} in {}\n{}", comment(rule.doc), rule.name, family.variable,
                     fmt::join(ops, ", "), print_body(rule));
}

std::string Rule::content() const {
  std::string out;
  bool line_begins = true;
  for (const char c : print_content(*this)) {
    if (c == '\n') {
      out += ' ';
    } else if (!line_begins || c != ' ') {
      out += c;
    }
    line_begins = c == '\n' || (line_begins && c == ' ');
  }
  out.pop_back();
  return out;
}

uint64_t Rule::hash() const { return hash_text("rule r\n" + print_content(*this)); }

}  // namespace isomer
