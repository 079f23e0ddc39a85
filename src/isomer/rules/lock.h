#pragma once
// rulesets/verdicts.lock: the verdict of every built-in rule, by the rule's content.
//
// Two lines per rule, sorted by name: `HASH NAME VERDICT CHECKER AXIOMS HOW...` and `| CONTENT`. HASH has 16 hex
// digits, CHECKER is the version of the checker as an integer, AXIOMS is the hash of the axioms of the rule's operators
// in 16 hex digits, and CONTENT is Rule::content(). `#` starts a comment line.

#include <vector>

#include "isomer/rules/rule.h"
#include "isomer/rules/verdict.h"

namespace isomer {

struct LockEntry {
  uint64_t hash = 0;
  std::string name;
  Verdict verdict = Verdict::Unknown;
  int checker = 0;
  uint64_t axioms = 0;  ///< axioms_hash (proof/axiom_hash.h) at the time of the verdict
  std::string how;
  std::string content;
};

struct Lock {
  std::vector<LockEntry> entries;

  /// The entry with the content of this rule, made by this version of the checker; nullptr if there is none. Equal
  /// hashes are not enough, because somebody may have searched for another rule with the hash of a true one.
  const LockEntry* find(const Rule& rule) const;
  /// Adds an entry and removes the entries of the same name.
  void put(LockEntry entry);
};

/// Fails with the number of the invalid line. An entry without content, as older programs wrote them, matches no rule.
Result<Lock> parse_lock(std::string_view text);
/// The text of a lock, sorted by name.
std::string print_lock(Lock lock);

/// The lock that comes with the program.
Result<Lock> builtin_lock();

}  // namespace isomer
