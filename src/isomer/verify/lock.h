#pragma once
// rulesets/verdicts.lock: the verdict of every built-in rule, by the hash of what the rule says.
//
// A line a rule, sorted by name: `HASH NAME VERDICT CHECKER AXIOMS HOW...`, with the hash in 16 hex digits, the version
// of the checker as an integer, and the hash of the axioms of the rule's operators in 16 hex digits. `#` starts a
// comment line.

#include <vector>

#include "isomer/rules/rule.h"
#include "isomer/verify/verdict.h"

namespace isomer {

struct LockEntry {
  uint64_t hash = 0;
  std::string name;
  Verdict verdict = Verdict::Unknown;
  int checker = 0;
  uint64_t axioms = 0;  ///< axioms_hash, when the verdict was given
  std::string how;
};

struct Lock {
  std::vector<LockEntry> entries;

  /// The entry for a rule that says exactly this, made by this version of the checker; null when there is none.
  const LockEntry* find(uint64_t rule_hash) const;
  /// The verdict of a rule; Unknown when the lock has none.
  Verdict verdict(const Rule& rule) const;
  /// Adds an entry, in the place of those of the same name.
  void put(LockEntry entry);
};

/// Fails with the number of the line that is not understood.
Result<Lock> parse_lock(std::string_view text);
/// The text of a lock, its entries sorted by name.
std::string print_lock(Lock lock);
LockEntry lock_entry(const Rule& rule, const RuleVerdict& verdict);

/// The lock that comes with the program.
Result<Lock> builtin_lock();

}  // namespace isomer
