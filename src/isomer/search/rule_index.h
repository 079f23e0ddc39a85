#pragma once
// The operators of each rule, computed once for many graphs: a rule is skipped where one is missing.

#include <cstdint>
#include <span>
#include <vector>

#include "isomer/ir/graph.h"
#include "isomer/rules/match_plan.h"

namespace isomer {

/// A set of operators with false positives: operators may share one of 64 bits.
class OpSet {
 public:
  void add(const OpDef& op) { bits_ |= bit(op); }
  /// False only if an operator of `other` is missing.
  bool may_contain(const OpSet& other) const { return (other.bits_ & ~bits_) == 0; }

 private:
  static uint64_t bit(const OpDef& op);

  uint64_t bits_ = 0;
};

/// The operators of all nodes of a graph.
OpSet ops_of(const Graph& graph);

class RuleIndex {
 public:
  struct Entry {
    MatchPlan plan;  ///< of the rule
    /// Operators on the longest way through a source, where a variable counts like an operator in its place.
    uint32_t depth = 0;
    OpSet ops = {};  ///< of the sources; a graph without one of them has no match
    /// Whether matches with one first root may differ in more than the nodes of the second: by the siblings that
    /// follow, or because the first term matches a node in several ways.
    bool several_ways = false;
  };

  /// Keeps a reference to the rules.
  explicit RuleIndex(std::span<const Rule> rules);

  std::span<const Rule> rules() const { return rules_; }
  /// In the order of the rules.
  std::span<const Entry> entries() const { return entries_; }

 private:
  std::span<const Rule> rules_;
  std::vector<Entry> entries_;
};

}  // namespace isomer
