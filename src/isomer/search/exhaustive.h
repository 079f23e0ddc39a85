#pragma once
// Applies rules wherever they match.

#include <optional>
#include <span>

#include "isomer/base/deadline.h"
#include "isomer/rules/rewrite.h"
#include "isomer/rules/target_cache.h"
#include "isomer/search/report.h"
#include "isomer/search/rule_index.h"

namespace isomer {

/// A candidate after a rule was applied at all places, repeatedly until nothing new appears (or until `rounds`, the
/// deadline, or a limit on growth is reached). Places where the rule would create a refused weight are skipped.
struct ExhaustiveRewrite {
  std::optional<Candidate> after = std::nullopt;  ///< nothing if the rule changed nothing
  SearchStep step = {};
  int64_t matches = 0;
};

/// Applies many rules to many graphs. Keeps the plans of the rules, and the targets of matches.
class ExhaustiveRewriter {
 public:
  /// Keeps a reference to the rules.
  explicit ExhaustiveRewriter(std::span<const Rule> rules) : rules_(rules) {}

  std::span<const RuleIndex::Entry> rules() const { return rules_.entries(); }
  /// The rule is one of `rules()`, and `index` is that of the candidate's graph.
  ExhaustiveRewrite apply(const Candidate& candidate, const OpIndex& index, const RuleIndex::Entry& rule,
                          const Deadline& deadline, const RefusedWeights* refused, int rounds = kMaxRounds);

  static constexpr int kMaxRounds = 30;

 private:
  const RuleIndex rules_;
  TargetCache targets_;
};

/// Applies one rule to one candidate.
ExhaustiveRewrite apply_exhaustively(const Candidate& candidate, const Rule& rule,
                                     const Deadline& deadline = Deadline::never(),
                                     const RefusedWeights* refused = nullptr,
                                     int rounds = ExhaustiveRewriter::kMaxRounds);

/// Returns the number of operators that depend on run-time inputs (not counting constants and inputs).
size_t run_time_ops(const Graph& graph);

}  // namespace isomer
