#pragma once
// Substitution rules as data: source pattern => target pattern where condition. docs/reference/rules.md describes the
// language.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/op.h"

namespace isomer {

struct RuleFunction;

/// An expression over integers, reals, strings and lists: the value of an attribute, or a condition.
struct Expr {
  enum class Kind : uint8_t {
    Integer,   // 3
    Real,      // 0.5
    Text,      // "SAME_UPPER"
    List,      // [a, b]
    Variable,  // ?x or @x: an attribute, a value, or a sequence of values
    Field,     // ?c.group: an attribute of a captured record; `name` is the attribute
    Call,      // dim(?x, 0), a + b, a == b, a and b, a[i]: `name` is the function or operator
  };
  Kind kind = Kind::Integer;
  int64_t integer = 0;
  double real = 0;
  std::string name;  // without sigil
  std::vector<Expr> args;
  /// Of Call: what computes it (functions.h), found by name when the expression is made; nullptr: `and`, `or`.
  const RuleFunction* function = nullptr;
  friend bool operator==(const Expr&, const Expr&) = default;
};

/// A term of a pattern.
struct Term {
  enum class Kind : uint8_t {
    Value,     // ?x: one value
    Sequence,  // @x: any number of values; under `...`, the element of this repetition
    Literal,   // 2.0: a constant whose elements all equal this number
    Apply,     // (Op attr=e ..rest operands)
    Integers,  // {?i}: a constant list of 64-bit integers; in the source, a variable that binds the list
  };
  Kind kind = Kind::Value;
  std::string name;  // of the variable, without sigil
  double literal = 0;
  Expr integers;  // of Integers
  const OpDef* op = nullptr;
  /// Of Apply, only in RuleFamily::written: the operator variable that stands here. `op` is the first of its operators.
  std::string op_variable;
  std::vector<std::pair<std::string, Expr>> attrs;
  std::string rest;  // name of the record with all other attributes; if empty, they must equal their presets
  std::vector<Term> operands;
  /// `term...`: repeated for each element of the sequences in it.
  bool repeated = false;
  friend bool operator==(const Term&, const Term&) = default;
};

/// `let ?y = term` or `let @s = term` in the target.
struct Let {
  std::string name;
  bool sequence = false;
  Term term;
  friend bool operator==(const Let&, const Let&) = default;
};

/// `choose ?g in list`: a free parameter with its candidates. Each candidate gives a separate match.
struct Choice {
  std::string name;
  Expr candidates;
  /// `choose block ?m in [4, 8, 16]`: the parameter is a number of channels per block, of which devices prefer some.
  bool block = false;
  /// Of a block: the only candidates that matches have (prefer_blocks in rules/blocks.h); empty: all. Not in the text.
  std::vector<int64_t> preferred = {};
  friend bool operator==(const Choice&, const Choice&) = default;
};

struct Rule {
  std::string name;
  std::string doc;  // the comment lines directly before the rule
  std::vector<Term> sources;
  std::vector<Choice> choices;
  std::vector<Let> lets;
  std::vector<Term> targets;
  std::vector<Expr> conditions;  // all must hold
  std::string family;            // name of the family that the rule comes from; empty: the rule is written alone
  /// The rule's content in one line: its text without its name, family and comments. A verdict covers all candidates of
  /// a free parameter, so it does not matter which of them are blocks and preferred. Rules with the same content are
  /// the same rule.
  std::string content() const;
  /// Hash of the content. It does not resist a search for another rule with the same hash: where rules are not trusted,
  /// contents are compared.
  uint64_t hash() const;
};

/// Rules that differ only in one operator, written once: `rule NAME for VARIABLE in OP, ...`. The file has one rule for
/// each operator, so everything but the printer works with concrete rules, and each of them has its own verdict.
struct RuleFamily {
  Rule written;  // `{VARIABLE}` in the name and the comment stands for the operator
  std::string variable;
  std::vector<const OpDef*> ops;  // in the order of the rules
};

/// A transformation that needs many rules before it pays off. In each stage, the seeds are applied once wherever they
/// match, and then the other rules until none matches. All stages together make one candidate of a search. A tactic
/// needs no proof of its own, because every step is a rule.
struct Tactic {
  struct Stage {
    std::vector<std::string> seeds;  // names of rules
    std::vector<std::string> then;
    friend bool operator==(const Stage&, const Stage&) = default;
  };
  std::string name;
  std::string doc;  // the comment lines directly before the tactic
  std::vector<Stage> stages;
  friend bool operator==(const Tactic&, const Tactic&) = default;
};

struct RuleFile {
  std::vector<Rule> rules;  // those of a family stand together
  std::vector<Tactic> tactics;
  std::vector<RuleFamily> families = {};
};

/// The names of the rules that have this name or come from the family of this name, in the order of the rules.
std::vector<std::string> rules_called(std::span<const Rule> rules, std::string_view name);

/// Parses a rule file. Fails with the line number unless every variable of the target is bound by the source, names are
/// unique, all operators, attributes and rules named by tactics exist, and all operators can have their operands.
Result<RuleFile> parse_rule_file(std::string_view text);

/// Parses the source patterns of a rule and its conditions. The result is a Rule without a name and without targets.
Result<Rule> parse_pattern(std::string_view text);

/// The rules of a rule file, without its tactics.
Result<std::vector<Rule>> parse_rules(std::string_view text);

/// The rule in the syntax of parse_rules, after its `doc` lines if there are any.
std::string print_rule(const Rule& rule);
std::string print_family(const RuleFamily& family);
std::string print_tactic(const Tactic& tactic);
std::string print_term(const Term& term);
std::string print_expr(const Expr& expr);

}  // namespace isomer
