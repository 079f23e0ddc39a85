#include "isomer/proof/prove.h"

#include "isomer/proof/instantiation.h"
#include "isomer/smt/equal.h"

namespace isomer {
namespace {

/// Limits of one result of a structure. All structures of a rule share the other limits.
constexpr Scope::Limits kRuleLimits{.cases = 128, .queries = 3000};
/// Limits of one result of a match, however many matches the solver has seen.
constexpr Scope::Limits kMatchLimits{
    .cases = 128, .queries = 3000, .unanswered = 5, .all_queries = SIZE_MAX, .all_unanswered = SIZE_MAX};
constexpr const char* kEmpty = "no values satisfy the conditions";

/// Returns the values that a rule lets the search choose, if the rule lists them.
std::vector<std::vector<int64_t>> choices_of(const Rule& rule) {
  std::vector<std::vector<int64_t>> out{{}};
  for (const Choice& choice : rule.choices) {
    if (choice.candidates.kind != Expr::Kind::List) throw GaveUp{"free parameters that depend on the match"};
    std::vector<std::vector<int64_t>> longer;
    for (const auto& chosen : out) {
      for (const Expr& candidate : choice.candidates.args) {
        if (candidate.kind != Expr::Kind::Integer) throw GaveUp{"free parameters that depend on the match"};
        longer.push_back(chosen);
        longer.back().push_back(candidate.integer);
      }
    }
    out = std::move(longer);
  }
  return out;
}

/// Goes through the cases of both sides, which `instantiate` creates. Each result is shown by itself, since what is
/// assumed for one (that it is not empty) need not hold where another is read.
class Attempt {
 public:
  using Instantiate = std::function<Instantiation(Scope&)>;

  /// `demanding`: what the target's nodes need of extents must follow from the source. Otherwise it is assumed, since
  /// the rewriter rejects targets of known extents that are not well typed.
  Attempt(std::shared_ptr<Solver> solver, Scope::Limits limits, bool demanding)
      : solver_(std::move(solver)), limits_(limits), demanding_(demanding) {}

  void run(const Instantiate& instantiate) {
    size_t results = 1;
    for (size_t result = 0; result < results; ++result) {
      Scope scope(limits_, solver_);
      try {
        scope.explore([&] { results = std::max(results, one_case(scope, instantiate, result)); });
      } catch (...) {
        // What the target lacks is a failure, whatever a proof would give up at afterwards.
        if (!scope.unmet()) throw;
      }
      if (const auto& needed = scope.unmet())
        failure_ = needed->is_false() ? "extents in the target do not fit"
                                      : "the target needs what the source does not: " + needed->str();
    }
  }

  Proof result() const {
    Proof out;
    out.cases = cases_;
    out.structures = cases_ > 0 ? 1 : 0;
    out.proved = failure_.empty() && cases_ > 0;
    out.gave_up = failure_.empty() && source_cases_ == 0;
    out.how = failure_.empty() && cases_ == 0 ? kEmpty : failure_;
    return out;
  }

 private:
  /// Shows one result of a case. Returns the number of results.
  size_t one_case(Scope& scope, const Instantiate& instantiate, size_t result) {
    if (!failure_.empty()) return 0;
    scope.demand(false);
    Instantiation both = instantiate(scope);
    const auto sources = both.source();
    const SymbolicTensor& source = sources.at(result);
    // If a result is empty, there is nothing to show. Leaving this open would split proofs about the target.
    for (const Dim& extent : source.shape) scope.assume(at_most(1, extent));
    ++source_cases_;
    scope.demand(demanding_);
    std::vector<SymbolicTensor> targets;
    try {
      targets = both.target();
    } catch (const Refused&) {
      return sources.size();
    }
    if (sources.size() != targets.size()) throw GaveUp{"another number of results"};
    for (size_t i = 0; i < sources.size(); ++i) {
      // The rewriter rejects results of other types.
      scope.agree(equal(sources[i].shape, targets[i].shape));
      if (sources[i].type && targets[i].type) scope.assume(equal(*sources[i].type, *targets[i].type));
    }
    scope.demand(false);
    std::vector<Dim> index;
    for (size_t axis = 0; axis < source.rank(); ++axis) {
      index.push_back(Dim::symbol("i0." + std::to_string(axis)));  // no model calls a dimension so
      scope.assume(within(0, index.back(), source.shape[axis]));
    }
    const Element before = source.at(index);
    const Element after = targets[result].at(index);
    if (!equal_elements(scope, before, after)) {
      if (scope.consistent() == false) return sources.size();
      failure_ = "not shown: " + before.str() + " = " + after.str();
      return sources.size();
    }
    if (scope.consistent() == true) ++cases_;
    return sources.size();
  }

  std::shared_ptr<Solver> solver_;
  const Scope::Limits limits_;
  const bool demanding_;
  std::string failure_;
  size_t source_cases_ = 0;  // those in which the source has a result that is not empty
  size_t cases_ = 0;
};

/// Returns the result of `attempt`, or the reason why it was given up.
Proof unless_given_up(const std::function<Proof()>& attempt) {
  try {
    return attempt();
  } catch (const GaveUp& gave_up) {
    return {.gave_up = true, .how = gave_up.reason};
  } catch (const std::exception& failed) {  // of Z3, for instance
    return {.gave_up = true, .how = fmt::format("the prover failed: {}", failed.what())};
  }
}

/// Tries one structure, for all values of everything that the instance leaves open.
Proof prove_structure(const Rule& rule, const Instance& instance, const std::shared_ptr<Solver>& solver) {
  return unless_given_up([&] {
    Attempt attempt(solver, kRuleLimits, false);
    for (const auto& choices : choices_of(rule))
      attempt.run([&](Scope& scope) { return Instantiation(scope, rule, instance, choices); });
    return attempt.result();
  });
}

}  // namespace

Proof prove_match(const Rule& rule, const Binding& match, const ValueFacts& facts,
                  const std::shared_ptr<Solver>& solver) {
  return unless_given_up([&] {
    Attempt attempt(solver, kMatchLimits, true);
    attempt.run([&](Scope& scope) { return Instantiation(scope, rule, match, facts); });
    return attempt.result();
  });
}

Proof prove_rule(const Rule& rule) {
  Proof out;
  const Structures structures = structures_of(rule);
  if (structures.instances.empty()) {
    out.how = "too many structures to list";
    return out;
  }
  const auto solver = std::make_shared<Solver>();
  for (const Instance& instance : structures.instances) {
    const Proof one = prove_structure(rule, instance, solver);
    out.cases += one.cases;
    out.structures += one.structures;
    if (one.proved || one.how == kEmpty) continue;
    out.how = one.how;
    return out;
  }
  out.proved = out.structures > 0;
  out.how = out.proved ? fmt::format("{} structures, {} cases: {}; any extents, windows and numbers", out.structures,
                                     out.cases, structures.bounds)
                       : "no structure satisfies the conditions";
  return out;
}

}  // namespace isomer
