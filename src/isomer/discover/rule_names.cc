#include "isomer/discover/rule_names.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "isomer/base/result.h"

namespace isomer {
namespace {

/// Renames variables in the order of their occurrence.
class Renamer {
 public:
  explicit Renamer(RecordNames records) : records_(records) {}

  void term(Term& term) {
    if (!term.rest.empty()) term.rest = longer(term.rest);
    if (term.kind == Term::Kind::Value || term.kind == Term::Kind::Sequence) term.name = value(term.name);
    if (term.kind == Term::Kind::Integers) expr(term.integers);
    for (Term& operand : term.operands) this->term(operand);
    for (auto& [name, given] : term.attrs) expr(given);
  }

  void expr(Expr& expr) {
    if (expr.kind == Expr::Kind::Variable) {
      const std::string name = expr.name.substr(1);
      expr.name = expr.name.substr(0, 1) + (name.size() == 1 ? value(name) : longer(name));
      return;
    }
    for (Expr& arg : expr.args) this->expr(arg);
  }

 private:
  std::string value(const std::string& name) {
    const auto [place, fresh] = values_.try_emplace(name, std::string(1, static_cast<char>('a' + values_.size())));
    return place->second;
  }
  /// Names like k1: the letter shows the kind, the number is by first occurrence. Other names are those of records.
  std::string longer(const std::string& name) {
    const bool number = std::isdigit(static_cast<unsigned char>(name[1])) != 0;
    return number ? numbered(name[0], name) : records_ == RecordNames::Numbered ? numbered('r', name) : name;
  }
  std::string numbered(char kind, const std::string& name) {
    const auto known = numbered_.find(name);
    if (known != numbered_.end()) return known->second;
    std::string fresh = fmt::format("{}{}", kind, counts_[kind]++);
    numbered_.emplace(name, fresh);
    return fresh;
  }

  RecordNames records_;
  std::map<std::string, std::string> values_;
  std::map<std::string, std::string> numbered_;
  std::map<char, size_t> counts_;
};

}  // namespace

Rule with_canonical_names(const Rule& rule, RecordNames records) {
  Rule out = rule;
  Renamer renamer(records);
  for (Term& term : out.sources) renamer.term(term);
  for (Let& let : out.lets) renamer.term(let.term);
  for (Term& term : out.targets) renamer.term(term);
  for (Expr& condition : out.conditions) renamer.expr(condition);
  std::ranges::stable_sort(out.conditions, {}, [](const Expr& condition) {
    const bool of_rank = !condition.args.empty() && condition.args[0].name == "rank";
    return std::pair(!of_rank, print_expr(condition));
  });
  out.name = fmt::format("discovered-{:016x}", out.hash());
  return out;
}

}  // namespace isomer
