#include "isomer/verify/rule_check.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "isomer/rules/match.h"
#include "isomer/rules/rewrite.h"
#include "isomer/verify/graph_pair.h"
#include "isomer/verify/instances.h"

namespace isomer {
namespace {

/// Extents, lengths and odd attributes, from wide to narrow.
struct Level {
  int64_t extent;
  size_t sequence;
  size_t odd;
};
constexpr Level kLevels[] = {{3, 3, 9}, {3, 3, 2}, {2, 3, 9}, {2, 3, 2}, {3, 2, 1},
                             {2, 3, 1}, {2, 2, 2}, {2, 2, 1}, {2, 2, 0}};
constexpr size_t kNumLevels = std::size(kLevels);

/// What was covered for one element type, ranks with the same bounds together: "f64 rank 0-2 (extents <= 3, ...) all
/// 13".
class Coverage {
 public:
  void add(const InstanceBounds& bounds, size_t tried) {
    const std::string odd = bounds.max_odd > 8 ? "" : fmt::format(", odd attributes <= {}", bounds.max_odd);
    const std::string kind = bounds.sample > 0 ? "sampled"
                                               : fmt::format("extents <= {}, lengths <= {}{}, all", bounds.max_extent,
                                                             bounds.max_sequence, odd);
    if (!parts_.empty() && parts_.back().element == bounds.element && parts_.back().kind == kind) {
      parts_.back().last = bounds.rank;
      parts_.back().tried += tried;
    } else {
      parts_.push_back({bounds.element, bounds.rank, bounds.rank, kind, tried});
    }
  }

  std::string str() const {
    std::string out;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Part& part = parts_[i];
      const bool same = i > 0 && parts_[i - 1].element == part.element;
      out += (i == 0 ? "" : same ? ", " : "; ") + (same ? "" : std::string(dtype_name(part.element)) + " ");
      out += part.first == part.last ? fmt::format("rank {}", part.first)
                                     : fmt::format("rank {}-{}", part.first, part.last);
      out += fmt::format(" ({} {})", part.kind, part.tried);
    }
    return out;
  }

 private:
  struct Part {
    DType element;
    size_t first;
    size_t last;
    std::string kind;
    size_t tried;
  };
  std::vector<Part> parts_;
};

/// Whether a condition is real(...), which keeps integers and 16-bit types out.
bool asks_for_reals(const Expr& condition) { return condition.kind == Expr::Kind::Call && condition.name == "real"; }

class RuleCheck {
 public:
  RuleCheck(const Rule& rule, const CheckBounds& bounds)
      : rule_(rule), bounds_(bounds), reals_only_(std::ranges::any_of(rule.conditions, asks_for_reals)) {}

  RuleVerdict run() {
    for (const DType element : {DType::Double, DType::Int64, DType::Bool}) {
      sweep_all(element);
      if (out_.verdict == Verdict::Refuted) return out_;
    }
    if (out_.instances == 0) sweep_all(DType::Float);  // perhaps the conditions want this element type
    return out_.verdict == Verdict::Refuted ? out_ : conclude();
  }

 private:
  RuleVerdict conclude() {
    if (!unsure_.empty()) {
      out_.how = unsure_;
    } else if (out_.instances == 0) {
      out_.how = "no instance within bounds";
    } else {
      out_.verdict = Verdict::Tested;
      out_.how =
          fmt::format("{} instances: {}; chance of error: degree / 2^61 an instance", out_.instances, covered_.str());
    }
    return out_;
  }

  void sweep_all(DType element) {
    size_t level = 0;
    for (size_t rank = 0; rank <= bounds_.max_rank && out_.verdict != Verdict::Refuted; ++rank)
      sweep(element, rank, level);
  }

  /// All instances of one element type whose largest rank is `rank`, within the widest bounds that are affordable, from
  /// `level` on: what was too much for a rank is too much for the next.
  void sweep(DType element, size_t rank, size_t& level) {
    // Reals tell most; the other types share their shapes.
    const size_t share = element == DType::Double || element == DType::Float ? 1 : 5;
    const size_t most = bounds_.max_instances / share;
    std::vector<Instance> instances;
    for (; level < kNumLevels; ++level) {
      const Level& wanted = kLevels[level];
      const InstanceBounds bounds{element, rank, wanted.extent, wanted.sequence, wanted.odd};
      instances.clear();
      const bool all = for_each_instance(rule_, bounds, bounds_.max_steps / share, [&](const Instance& instance) {
        instances.push_back(instance);
        return instances.size() <= most;
      });
      if (all) return try_all(instances, bounds);
    }
    draw_sample(element, rank, bounds_.sample / share);
  }

  /// A few instances out of each of many random parts of the whole.
  void draw_sample(DType element, size_t rank, size_t wanted) {
    std::vector<Instance> instances;
    InstanceBounds bounds{element, rank, 3, 3, 9};
    for (size_t draw = 1; draw <= 2 * wanted && instances.size() < wanted; ++draw) {
      bounds.sample = draw;
      size_t drawn = 0;
      for_each_instance(rule_, bounds, kStepsPerDraw, [&](const Instance& instance) {
        instances.push_back(instance);
        return ++drawn < kPerDraw;
      });
    }
    try_all(instances, bounds);
  }

  void try_all(const std::vector<Instance>& instances, const InstanceBounds& bounds) {
    const size_t before = out_.instances;
    for (const Instance& instance : instances) {
      try_one(instance);
      if (out_.verdict == Verdict::Refuted) return;
    }
    if (out_.instances == before) return;
    covered_.add(bounds, out_.instances - before);
  }

  void try_one(const Instance& instance) {
    const auto graph = instance.build(kWeightSeed);
    const std::set<uint64_t> weights = instance.weight_hashes(kWeightSeed);
    if (!graph) return;
    bool applied = false;
    for (const Match& match : find_matches(*graph, OpIndex(*graph), rule_, kMatches)) {
      const auto rewritten = apply_match(*graph, match);
      if (!rewritten) continue;
      const PairComparison compared = compare_graphs(*graph, *rewritten, weights);
      switch (compared.outcome) {
        case PairComparison::Outcome::Exact:
          applied = true;
          if (!compared.same_rounding && !reals_only_ && unsure_.empty())
            unsure_ = "rounds otherwise, so it must ask for real(...) to spare 16-bit types";
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
          return;
      }
    }
    out_.instances += applied ? 1 : 0;
  }

  static constexpr size_t kMatches = 6;
  static constexpr uint64_t kWeightSeed = 3;
  static constexpr size_t kPerDraw = 5;
  static constexpr size_t kStepsPerDraw = 1000;
  const Rule& rule_;
  const CheckBounds& bounds_;
  const bool reals_only_;
  RuleVerdict out_;
  Coverage covered_;
  std::string unsure_;
};

}  // namespace

RuleVerdict check_rule(const Rule& rule, const CheckBounds& bounds) { return RuleCheck(rule, bounds).run(); }

std::vector<RuleVerdict> check_rules(const std::vector<Rule>& rules, const CheckBounds& bounds, int threads) {
  std::vector<RuleVerdict> out(rules.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < rules.size(); i = next++) out[i] = check_rule(rules[i], bounds);
  };
  std::vector<std::jthread> pool;
  for (int t = 1; t < threads; ++t) pool.emplace_back(work);
  work();
  pool.clear();
  return out;
}

}  // namespace isomer
