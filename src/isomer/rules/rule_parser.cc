// Parses one rule: terms by recursive descent, expressions by precedence.

#include "isomer/rules/rule_parser.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "isomer/ops/registry.h"
#include "isomer/rules/build.h"
#include "isomer/rules/functions.h"
#include "isomer/rules/walk.h"

namespace isomer {
namespace {

/// Binary operators by increasing precedence.
constexpr std::string_view kComparisons[] = {"==", "!=", "<=", ">=", "<", ">"};

/// Maximum nesting depth of a rule, because everything that walks over rules recurses.
constexpr int kMaxDepth = 128;
/// Maximum number of parts of a rule. A chain of sums is a tree as deep as the chain is long.
constexpr int kMaxParts = 2000;

/// "1 operand", "2 to 3 operands", "at least 1 operand".
std::string operands_of(const OpDef& op) {
  if (op.max_operands == OpDef::kVariadic)
    return fmt::format("at least {} operand{}", op.min_operands, op.min_operands == 1 ? "" : "s");
  const std::string count = op.min_operands == op.max_operands
                                ? std::to_string(op.max_operands)
                                : fmt::format("{} to {}", op.min_operands, op.max_operands);
  return fmt::format("{} operand{}", count, op.max_operands == 1 ? "" : "s");
}

bool lists_integers(const Expr& expr) {
  return expr.kind == Expr::Kind::List && !expr.args.empty() &&
         std::ranges::all_of(expr.args, [](const Expr& item) { return item.kind == Expr::Kind::Integer; });
}

class RuleParser {
 public:
  RuleParser(Scanner& scan, const BoundOperator* bound) : scan_(scan), bound_operator_(bound) {}

  /// The source of a rule and its conditions.
  Result<Rule> pattern() {
    Rule out;
    ISOMER_CHECK(sources(out));
    ISOMER_CHECK(conditions(out));
    if (!scan_.at_end()) return scan_.error("expected the end");
    return out;
  }

  Result<Rule> rule() {
    Rule rule;
    ISOMER_CHECK(sources(rule));
    while (scan_.accept_word("choose")) {
      Choice choice;
      choice.block = scan_.accept_word("block");
      ISOMER_TRY(choice.name, variable("?"));
      if (!scan_.accept_word("in")) return scan_.error("expected 'in'");
      ISOMER_TRY(choice.candidates, expression());
      if (choice.block && !lists_integers(choice.candidates))
        return scan_.error("the candidates for the block ?" + choice.name + " must be listed, such as [8, 16]");
      bound_.insert(choice.name);
      rule.choices.push_back(std::move(choice));
    }
    ISOMER_CHECK(scan_.expect("=>"));
    in_source_ = false;
    while (scan_.accept_word("let")) {
      Let let;
      let.sequence = scan_.peek() == '@';
      ISOMER_TRY(let.name, variable(let.sequence ? "@" : "?"));
      ISOMER_CHECK(scan_.expect("="));
      ISOMER_TRY(let.term, term());
      if (!bound_.insert(let.name).second) return scan_.error("'" + let.name + "' is bound already");
      rule.lets.push_back(std::move(let));
    }
    do {
      ISOMER_TRY(Term term, this->term());
      rule.targets.push_back(std::move(term));
    } while (scan_.accept(","));
    ISOMER_CHECK(conditions(rule));
    return rule;
  }

 private:
  Status sources(Rule& rule) {
    do {
      ISOMER_TRY(Term term, this->term());
      if (term.kind != Term::Kind::Apply) return scan_.error("a source pattern must be an operator");
      rule.sources.push_back(std::move(term));
    } while (scan_.accept(","));
    if (bound_operator_ != nullptr && !uses_operator_)
      return scan_.error("the source does not use the operator variable '" + bound_operator_->variable + "'");
    return {};
  }

  Status conditions(Rule& rule) {
    if (!scan_.accept_word("where")) return {};
    ISOMER_TRY(Expr condition, expression());
    flatten(std::move(condition), rule.conditions);
    return {};
  }

  /// The conjuncts of a condition, from left to right.
  static void flatten(Expr condition, std::vector<Expr>& out) {
    if (condition.kind == Expr::Kind::Call && condition.name == "and") {
      for (Expr& arg : condition.args) flatten(std::move(arg), out);
    } else {
      out.push_back(std::move(condition));
    }
  }

  Result<std::string> variable(std::string_view sigil) {
    ISOMER_CHECK(scan_.expect(sigil));
    return scan_.identifier();
  }

  /// Source variables are bound; all others must be bound already.
  Status use(const std::string& name, bool binds) {
    if (binds && in_source_)
      bound_.insert(name);
    else if (!bound_.contains(name))
      return scan_.error("'" + name + "' is not bound by the source");
    return {};
  }

  /// Counts a part of a rule, and its depth during its lifetime.
  class Part {
   public:
    explicit Part(RuleParser& parser) : parser_(parser) {
      ++parser_.depth_;
      ++parser_.parts_;
    }
    ~Part() { --parser_.depth_; }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    Status check() const {
      if (parser_.depth_ > kMaxDepth) return parser_.scan_.error(fmt::format("nested deeper than {}", kMaxDepth));
      if (parser_.parts_ > kMaxParts) return parser_.scan_.error(fmt::format("more than {} parts", kMaxParts));
      return {};
    }

   private:
    RuleParser& parser_;
  };

  Result<Term> term() {
    const Part part(*this);
    ISOMER_CHECK(part.check());
    Term out;
    const char c = scan_.peek();
    if (c == '?' || c == '@') {
      out.kind = c == '?' ? Term::Kind::Value : Term::Kind::Sequence;
      ISOMER_TRY(out.name, variable(std::string_view(&c, 1)));
      ISOMER_CHECK(use(out.name, true));
    } else if (c == '(') {
      ISOMER_TRY(out, apply());
    } else if (c == '{') {
      ISOMER_TRY(out, integers());
    } else {
      out.kind = Term::Kind::Literal;
      bool is_float = false;
      ISOMER_TRY(out.literal, scan_.number(is_float));
    }
    out.repeated = scan_.accept("...");
    const auto repeats = [](const Term& term) { return term.repeated; };
    if (out.repeated &&
        std::ranges::any_of(out.operands, [&](const Term& operand) { return any_term(operand, repeats); }))
      return scan_.error("a repeated term in a repeated term");
    return out;
  }

  /// `{list}`. In the source, it must be a bare variable, which is bound.
  Result<Term> integers() {
    Term out;
    out.kind = Term::Kind::Integers;
    ISOMER_CHECK(scan_.expect("{"));
    if (in_source_) {
      ISOMER_TRY(const std::string name, variable("?"));
      ISOMER_CHECK(use(name, true));
      out.integers = variable_expr(name);
    } else {
      ISOMER_TRY(out.integers, sum());
    }
    ISOMER_CHECK(scan_.expect("}"));
    return out;
  }

  Result<Term> apply() {
    Term out;
    out.kind = Term::Kind::Apply;
    ISOMER_CHECK(scan_.expect("("));
    ISOMER_CHECK(operation(out));
    while (!scan_.accept(")")) {
      if (scan_.at_end()) return scan_.error("unfinished pattern");
      if (scan_.accept("..")) {
        if (!out.rest.empty()) return scan_.error("a second record of attributes next to '.." + out.rest + "'");
        ISOMER_TRY(out.rest, scan_.identifier());
        ISOMER_CHECK(use(out.rest, true));
      } else if (std::isalpha(static_cast<unsigned char>(scan_.peek())) != 0) {
        ISOMER_CHECK(attribute(out));
      } else {
        ISOMER_TRY(Term operand, term());
        out.operands.push_back(std::move(operand));
      }
    }
    ISOMER_CHECK(operand_count(out));
    return out;
  }

  /// The operator of a term, or the operator variable.
  Status operation(Term& out) {
    ISOMER_TRY(std::string name, scan_.identifier());
    if (bound_operator_ == nullptr || name != bound_operator_->variable) {
      out.op = find_op(name);
      if (out.op == nullptr) return scan_.error("unknown operator '" + name + "'");
      return {};
    }
    out.op = bound_operator_->op;
    if (bound_operator_->as_written) out.op_variable = std::move(name);
    uses_operator_ = true;
    return {};
  }

  Status operand_count(const Term& term) const {
    const auto many = [](const Term& operand) { return operand.repeated || operand.kind == Term::Kind::Sequence; };
    const auto fixed = static_cast<size_t>(std::ranges::count_if(term.operands, std::not_fn(many)));
    const bool open = fixed < term.operands.size();  // a sequence may be empty
    if (fixed <= term.op->max_operands && (open || fixed >= term.op->min_operands)) return {};
    return scan_.error(fmt::format("{} takes {}, not {}", term.op->name, operands_of(*term.op), fixed));
  }

  Status attribute(Term& out) {
    ISOMER_TRY(std::string attr, scan_.identifier());
    if (out.op->find_attr(attr) == nullptr) return scan_.error(out.op->name + " has no attribute '" + attr + "'");
    for (const auto& before : out.attrs)
      if (before.first == attr) return scan_.error("a second attribute '" + attr + "'");
    ISOMER_CHECK(scan_.expect("="));
    std::string binds;
    if (in_source_ && scan_.peek() == '?') {
      const size_t at = scan_.position();
      const int line = scan_.line();
      ISOMER_TRY(const std::string name, variable("?"));
      if (bound_.insert(name).second) binds = name;
      scan_.rewind(at, line);
    }
    ISOMER_TRY(Expr value, sum());
    // A bare variable is bound; an expression that begins with a variable is not.
    if (!binds.empty() && value.kind != Expr::Kind::Variable)
      return scan_.error("'" + binds + "' is not bound by the source");
    out.attrs.emplace_back(std::move(attr), std::move(value));
    return {};
  }

  Result<Expr> expression() {
    ISOMER_TRY(Expr left, conjunction());
    while (scan_.accept_word("or")) {
      ISOMER_TRY(Expr right, conjunction());
      left = call_expr("or", {std::move(left), std::move(right)});
    }
    return left;
  }

  Result<Expr> conjunction() {
    ISOMER_TRY(Expr left, comparison());
    while (scan_.accept_word("and")) {
      ISOMER_TRY(Expr right, comparison());
      left = call_expr("and", {std::move(left), std::move(right)});
    }
    return left;
  }

  Result<Expr> comparison() {
    const Part part(*this);
    ISOMER_CHECK(part.check());
    if (scan_.accept_word("not")) {
      ISOMER_TRY(Expr inner, comparison());
      return call_expr("not", {std::move(inner)});
    }
    ISOMER_TRY(Expr left, sum());
    for (const std::string_view op : kComparisons) {
      if (!scan_.accept(op)) continue;
      ISOMER_TRY(Expr right, sum());
      return call_expr(std::string(op), {std::move(left), std::move(right)});
    }
    return left;
  }

  Result<Expr> sum() {
    ISOMER_TRY(Expr left, product());
    for (;;) {
      const std::string op = scan_.accept("++") ? "++" : scan_.accept("+") ? "+" : scan_.accept("-") ? "-" : "";
      if (op.empty()) return left;
      ISOMER_TRY(Expr right, product());
      left = call_expr(op, {std::move(left), std::move(right)});
    }
  }

  Result<Expr> product() {
    ISOMER_TRY(Expr left, postfix());
    for (;;) {
      const std::string op = scan_.accept("*") ? "*" : scan_.accept("/") ? "/" : scan_.accept("%") ? "%" : "";
      if (op.empty()) return left;
      ISOMER_TRY(Expr right, postfix());
      left = call_expr(op, {std::move(left), std::move(right)});
    }
  }

  Result<Expr> postfix() {
    const Part part(*this);
    ISOMER_CHECK(part.check());
    ISOMER_TRY(Expr out, primary());
    while (scan_.accept("[")) {
      ISOMER_TRY(Expr index, sum());
      ISOMER_CHECK(scan_.expect("]"));
      out = call_expr("at", {std::move(out), std::move(index)});
    }
    return out;
  }

  Result<std::vector<Expr>> arguments(std::string_view close) {
    std::vector<Expr> out;
    while (!scan_.accept(close)) {
      if (!out.empty()) ISOMER_CHECK(scan_.expect(","));
      ISOMER_TRY(Expr item, expression());
      out.push_back(std::move(item));
    }
    return out;
  }

  Result<Expr> primary() {
    Expr out;
    const char c = scan_.peek();
    if (c == '(') {
      ISOMER_CHECK(scan_.expect("("));
      ISOMER_TRY(out, expression());
      ISOMER_CHECK(scan_.expect(")"));
      return out;
    }
    if (c == '[') {
      ISOMER_CHECK(scan_.expect("["));
      out.kind = Expr::Kind::List;
      ISOMER_TRY(out.args, arguments("]"));
      return out;
    }
    if (c == '"') {
      out.kind = Expr::Kind::Text;
      ISOMER_TRY(out.name, scan_.quoted_string());
      return out;
    }
    if (c == '?' || c == '@') {
      out.kind = Expr::Kind::Variable;
      const std::string sigil(1, c);
      ISOMER_TRY(const std::string name, variable(sigil));
      ISOMER_CHECK(use(name, false));
      if (scan_.looking_at("..") || !scan_.accept(".")) {
        out.name = sigil + name;
        return out;
      }
      out.kind = Expr::Kind::Field;
      ISOMER_TRY(out.name, scan_.identifier());
      Expr record;
      record.kind = Expr::Kind::Variable;
      record.name = sigil + name;
      out.args.push_back(std::move(record));
      return out;
    }
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      ISOMER_TRY(const std::string name, scan_.identifier());
      if (find_rule_function(name) == nullptr) return scan_.error("unknown function '" + name + "'");
      ISOMER_CHECK(scan_.expect("("));
      ISOMER_TRY(auto args, arguments(")"));
      return call_expr(name, std::move(args));
    }
    return number();
  }

  Result<Expr> number() {
    Expr out;
    bool is_float = false;
    scan_.skip();
    const size_t start = scan_.position();
    const int line = scan_.line();
    ISOMER_TRY(out.real, scan_.number(is_float));
    if (is_float) {
      out.kind = Expr::Kind::Real;
      return out;
    }
    // Parses the text again: a double cannot represent every integer, and an integer not every double.
    scan_.rewind(start, line);
    out.real = 0;
    ISOMER_TRY(out.integer, scan_.integer());
    return out;
  }

  Scanner& scan_;
  const BoundOperator* bound_operator_;
  bool uses_operator_ = false;  // a source uses the operator variable
  bool in_source_ = true;
  std::set<std::string> bound_;
  int depth_ = 0;  // of the parts that are currently parsed
  int parts_ = 0;  // of the rule so far
};

}  // namespace

Result<Rule> parse_rule_body(Scanner& scan, const BoundOperator* bound) { return RuleParser(scan, bound).rule(); }

Result<Rule> parse_pattern(std::string_view text) {
  Scanner scan(text);
  return RuleParser(scan, nullptr).pattern();
}

}  // namespace isomer
