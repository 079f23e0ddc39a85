#include "isomer/repro/taso/rule_size.h"

#include <algorithm>

namespace isomer {
namespace {

int size_of(const Term& term) {
  int size = term.kind == Term::Kind::Apply ? 1 : 0;
  for (const Term& operand : term.operands) size += size_of(operand);
  return term.repeated ? 2 * size : size;
}

void add_operators(const Term& term, std::string& out) {
  if (term.kind == Term::Kind::Apply) out += (out.empty() ? "" : " ") + term.op->name + (term.repeated ? "..." : "");
  for (const Term& operand : term.operands) add_operators(operand, out);
}

}  // namespace

int size_of(const Rule& rule) {
  int source = 0, target = 0;
  for (const Term& term : rule.sources) source += size_of(term);
  for (const Let& let : rule.lets) target += size_of(let.term);
  for (const Term& term : rule.targets) target += size_of(term);
  return std::max(source, target);
}

std::string operators_of(const Rule& rule) {
  std::string source, target;
  for (const Term& term : rule.sources) add_operators(term, source);
  for (const Term& term : rule.targets) add_operators(term, target);
  for (const Let& let : rule.lets) add_operators(let.term, target);
  return source + " => " + (target.empty() ? "operand" : target);
}

}  // namespace isomer
