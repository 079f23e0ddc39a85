#include "isomer/proof/axiom_hash.h"

#include <map>
#include <mutex>

#include "isomer/base/hash.h"
#include "isomer/proof/axiom_check.h"
#include "isomer/rules/walk.h"

namespace isomer {
namespace {

/// Returns the hash of one operator; cached, since it takes milliseconds.
uint64_t hash_of(const OpDef& op) {
  static std::mutex mutex;
  static std::map<std::string, uint64_t> known;
  const std::lock_guard lock(mutex);
  const auto [found, fresh] = known.try_emplace(op.name);
  if (fresh) found->second = op.axiom == nullptr ? 0 : hash_text(axiom_text(op, AxiomRanks::All));
  return found->second;
}

}  // namespace

uint64_t axioms_hash(const Rule& rule) {
  std::map<std::string, const OpDef*> ops;  // by name, so that the order is the same in every run
  const auto collect = [&](const Term& term) {
    if (term.op != nullptr) ops.emplace(term.op->name, term.op);
  };
  for_each_source_term(rule, collect);
  for_each_target_term(rule, collect);
  uint64_t out = 0;
  for (const auto& [name, op] : ops) out = hash_mix(out, hash_mix(hash_text(name), hash_of(*op)));
  return out;
}

}  // namespace isomer
