#include "isomer/check/rule_check.h"

#include <algorithm>
#include <map>

#include "isomer/check/bounds_ladder.h"
#include "isomer/check/coverage.h"
#include "isomer/check/features.h"
#include "isomer/check/graph_pair.h"
#include "isomer/rules/match.h"
#include "isomer/rules/rewrite.h"

namespace isomer {
namespace {

/// Returns whether a condition is real(...), which excludes integers and 16-bit types.
bool asks_for_reals(const Expr& condition) { return condition.kind == Expr::Kind::Call && condition.name == "real"; }

class RuleCheck {
 public:
  RuleCheck(const Rule& rule, const CheckBounds& bounds)
      : rule_(rule),
        bounds_(bounds),
        ladders_(ladders(rule)),
        reals_only_(std::ranges::any_of(rule.conditions, asks_for_reals)) {}

  RuleVerdict run() {
    for (const DType element : {DType::Double, DType::Int64, DType::Bool}) {
      sweep_all(element);
      if (out_.verdict == Verdict::Refuted) return out_;
    }
    if (out_.instances == 0) sweep_all(DType::Float);  // the conditions may require this element type
    return out_.verdict == Verdict::Refuted ? out_ : conclude();
  }

 private:
  RuleVerdict conclude() {
    if (!unsure_.empty()) {
      out_.how = unsure_;
    } else if (out_.instances == 0) {
      out_.how = "no instance within bounds";
    } else if (out_.instances < bounds_.min_instances) {
      out_.how = fmt::format("only {} instances within bounds", out_.instances);
    } else if (const auto lack = shown_.lacks(shown_by_larger_); bounds_.wide && lack) {
      out_.how = fmt::format("too narrow: larger instances have '{}' with '{}', none within bounds has", lack->first,
                             lack->second);
    } else {
      out_.verdict = Verdict::Tested;
      out_.how = describe();
    }
    return out_;
  }

  std::string describe() const {
    std::string out = fmt::format("{} instances: {}", out_.instances, covered_.str());
    const Features largest = shown_.largest();
    if (!largest.empty()) out += fmt::format("; at once {}", fmt::join(largest, ", "));
    if (drawn_ > 0) out += fmt::format("; also {} larger ones at random", drawn_);
    return out + "; chance of error: degree / 2^61 an instance";
  }

  void sweep_all(DType element) {
    std::vector<size_t> rungs(ladders_.size(), 0);
    for (size_t rank = 0; rank <= bounds_.max_rank && out_.verdict != Verdict::Refuted; ++rank)
      sweep(element, rank, rungs);
  }

  /// Tries all instances of one element type whose largest rank is `rank`, within the widest affordable bounds of each
  /// ladder. Starts at its rung: bounds that were too wide for one rank are too wide for the next.
  void sweep(DType element, size_t rank, std::vector<size_t>& rungs) {
    // Floating-point instances are the most informative; the other types share their shapes.
    const size_t share = element == DType::Double || element == DType::Float ? 1 : 5;
    const size_t before = out_.instances;
    std::optional<size_t> non_default;  // the first ladder's bound on non-plain attributes
    for (size_t l = 0; l < ladders_.size() && out_.verdict != Verdict::Refuted; ++l) {
      if (ladders_[l].for_attributes && non_default == InstanceBounds::kAny) continue;
      const size_t part = share * ladders_[l].part;
      const auto listed = list_instances(rule_, ladders_[l], rungs[l], element, rank, bounds_.max_instances / part,
                                         bounds_.max_steps / part * ladders_[l].patience);
      if (!listed) continue;
      try_all(*listed);
      if (l == 0) non_default = listed->bounds.max_non_default;
    }
    if (out_.verdict == Verdict::Refuted || rungs[0] == 0) return;
    const size_t larger = draw_sample(element, rank, bounds_.sample / share);
    if (larger > 0 && out_.instances == before) covered_.leave_out(element, rank);
  }

  void try_all(const ListedInstances& listed) {
    const bool may_be_empty = listed.bounds.extents.front() == 0;
    size_t tried = 0;
    for (const Instance& instance : listed.instances) {
      const Tried result = try_one(instance);
      if (out_.verdict == Verdict::Refuted) return;
      if (!result.applied) continue;
      ++tried;
      if (may_be_empty) continue;  // these may refute the rule, and say little for it
      out_.instances += result.fresh ? 1 : 0;
      shown_.add(features_of(instance));
    }
    if (tried > 0) covered_.add(listed.bounds, tried);
  }

  /// Tries a few instances out of each of some random parts; returns the number to which the rule applied.
  size_t draw_sample(DType element, size_t rank, size_t wanted) {
    InstanceBounds bounds{.element = element, .rank = rank, .extents = {1, 2, 3, 4}};
    size_t tried = 0;
    for (size_t draw = 1; draw <= wanted && tried < wanted; ++draw) {
      bounds.sample = draw;
      size_t drawn = 0;
      for_each_instance(rule_, bounds, kStepsPerDraw, [&](const Instance& instance) {
        const Tried result = try_one(instance);
        if (out_.verdict == Verdict::Refuted) return false;
        if (result.applied && result.fresh) {
          ++tried;
          shown_by_larger_.add(features_of(instance));
        }
        return ++drawn < kPerDraw;
      });
      if (out_.verdict == Verdict::Refuted) break;
    }
    drawn_ += tried;
    return tried;
  }

  struct Tried {
    bool applied;
    bool fresh;  ///< for the first time
  };

  /// Rewrites and compares, unless an equal graph was tried before.
  Tried try_one(const Instance& instance) {
    const auto graph = instance.build(kWeightSeed);
    if (!graph) return {false, false};
    const auto [known, fresh] = tried_.try_emplace(graph->hash(), false);
    if (fresh) known->second = applies(*graph, instance.weight_hashes(kWeightSeed));
    return {known->second, fresh};
  }

  /// Returns whether the rule applies; records what that refutes or leaves open.
  bool applies(const Graph& graph, const std::set<uint64_t>& weights) {
    bool applied = false;
    for (const Match& match : find_matches(graph, OpIndex(graph), rule_, kMatches)) {
      const auto rewritten = apply_match(graph, match);
      if (!rewritten) continue;
      const PairComparison compared = compare_graphs(graph, *rewritten, weights);
      switch (compared.outcome) {
        case PairComparison::Outcome::Exact:
          applied = true;
          if (!reals_only_ && unsure_.empty() &&
              (!compared.same_rounding || !same_in_16_bits(graph, *rewritten, weights)))
            unsure_ = "rounds otherwise, so it must ask for real(...) to spare 16-bit types";
          if (unsure_.empty() && overflows(graph, *rewritten, weights))
            unsure_ = "overflows: of large elements it makes infinity or NaN where its source has numbers";
          break;
        case PairComparison::Outcome::Failed:
          break;
        case PairComparison::Outcome::Close:
          applied = true;
          if (unsure_.empty()) unsure_ = "not shown exactly: " + compared.text;
          break;
        case PairComparison::Outcome::Differs:
          out_.verdict = Verdict::Refuted;
          out_.how = "there is a counterexample";
          out_.counterexample = compared.text;
          return applied;
      }
    }
    return applied;
  }

  static constexpr size_t kMatches = 6;
  static constexpr uint64_t kWeightSeed = 3;
  static constexpr size_t kPerDraw = 5;
  static constexpr size_t kStepsPerDraw = 500;
  const Rule& rule_;
  const CheckBounds& bounds_;
  const std::vector<Ladder> ladders_;
  const bool reals_only_;
  RuleVerdict out_;
  Coverage covered_;
  std::map<uint64_t, bool> tried_;  // by hash of the graph: whether the rule applied
  ShownFeatures shown_;
  ShownFeatures shown_by_larger_;
  size_t drawn_ = 0;
  std::string unsure_;
};

}  // namespace

RuleVerdict check_rule(const Rule& rule, const CheckBounds& bounds) { return RuleCheck(rule, bounds).run(); }

}  // namespace isomer
