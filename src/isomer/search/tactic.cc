#include "isomer/search/tactic.h"

#include <algorithm>
#include <set>

#include "isomer/rules/blocks.h"
#include "isomer/rules/record.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/exhaustive.h"
#include "isomer/search/match_classes.h"
#include "isomer/search/matches.h"
#include "isomer/search/step.h"

namespace isomer {
namespace {

/// Returns the rules with these names, in this order.
std::vector<Rule> named(std::span<const Rule> rules, const std::vector<std::string>& names) {
  std::vector<Rule> out;
  for (const std::string& name : names)
    for (const Rule& rule : rules)
      if (rule.name == name) out.push_back(rule);
  return out;
}

/// A candidate with the steps that led to it.
class Run {
 public:
  Run(const Candidate& candidate, const RefusedWeights* refused)
      : ops_before_(run_time_ops(candidate.graph)),
        refused_(refused),
        current_(candidate),
        seen_{candidate.graph.hash()} {}

  /// Applies the matches at once. Returns false if that changes nothing or results in an earlier graph.
  bool apply(std::span<const Match> matches) {
    matches_ += static_cast<int64_t>(matches.size());
    Rewritten next = apply_matches(current_.graph, matches, refused_);
    if (next.applied.empty() || !seen_.insert(next.graph.hash()).second) return false;
    moves_.push_back(record_move(current_.graph, next.applied, next.graph));
    for (const Match* match : next.applied) note(*match);
    current_ = carried(current_.decisions, next.value_hashes, std::move(next.graph));
    return true;
  }

  const Graph& graph() const { return current_.graph; }
  bool changed() const { return !steps_.empty(); }

  TacticResult finish() && {
    const size_t ops_after = run_time_ops(current_.graph);
    for (SearchStep& step : steps_) step.ops_after = ops_after;
    if (!steps_.empty()) steps_.front().moves = std::move(moves_);
    return {std::move(current_), std::move(steps_), matches_};
  }

 private:
  void note(const Match& match) {
    auto found = std::find_if(steps_.begin(), steps_.end(),
                              [&](const SearchStep& step) { return step.rule == match.rule->name; });
    if (found == steps_.end())
      found = steps_.insert(steps_.end(),
                            {.rule = match.rule->name, .rule_hash = match.rule->hash(), .ops_before = ops_before_});
    for (const ValueId root : match.roots) found->nodes.push_back(value_label(current_.graph, root));
  }

  size_t ops_before_;
  const RefusedWeights* refused_;
  Candidate current_;
  std::set<uint64_t> seen_;
  std::vector<SearchStep> steps_;
  std::vector<Move> moves_;
  int64_t matches_ = 0;
};

/// Returns the runs after a stage: one per setting of its seeds' parameters, or the run itself if no seed matches.
std::vector<Run> run_stage(const Run& before, const Tactic::Stage& stage, std::span<const Rule> rules,
                           const Deadline& deadline, int rounds) {
  const std::vector<Rule> seed_rules = named(rules, stage.seeds);
  const std::vector<Rule> then_rules = named(rules, stage.then);
  std::vector<Run> out;
  for (const std::vector<Match>& seeds : settings_of(all_matches(before.graph(), seed_rules, SIZE_MAX, deadline))) {
    if (deadline.passed()) break;
    Run run = before;
    if (!run.apply(seeds)) continue;
    // Otherwise what the seeds fill up to blocks of 8 channels would be merged to blocks of 16.
    const std::vector<Rule> then = prefer_blocks(then_rules, chosen_blocks(seeds.front()));
    for (int round = 0; round < rounds && !deadline.passed(); ++round)
      if (!run.apply(all_matches(run.graph(), then, SIZE_MAX, deadline))) break;
    out.push_back(std::move(run));
  }
  if (out.empty()) out.push_back(before);
  return out;
}

}  // namespace

std::vector<TacticResult> run_tactic(const Candidate& candidate, const Tactic& tactic, std::span<const Rule> rules,
                                     const Deadline& deadline, const RefusedWeights* refused, int rounds) {
  std::vector<Run> runs{Run(candidate, refused)};
  for (const Tactic::Stage& stage : tactic.stages) {
    std::vector<Run> next;
    for (const Run& run : runs)
      for (Run& staged : run_stage(run, stage, rules, deadline, rounds)) next.push_back(std::move(staged));
    runs = std::move(next);
  }
  std::vector<TacticResult> out;
  for (Run& run : runs)
    if (run.changed()) out.push_back(std::move(run).finish());
  return out;
}

}  // namespace isomer
