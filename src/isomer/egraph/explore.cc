#include "isomer/egraph/explore.h"

#include <algorithm>

namespace isomer {
namespace {

// Approximate sizes of what an e-graph stores for a term, and of a stored application.
constexpr int64_t kBytesPerTerm = 500;
constexpr int64_t kBytesPerApplication = 300;

}  // namespace

std::string Exploration::run() {
  graph_.rebuild();
  size_t sibling_rounds = 0;  // that changed something
  bool saturated = false;     // by rules with one root
  for (size_t iteration = 0; iteration < limits_.iterations; ++iteration) {
    const bool may_join = sibling_rounds < limits_.sibling_rounds;
    const bool siblings = may_join && (iteration == 0 || saturated);
    Change change;
    if (std::string reason = iterate(iteration, siblings, change); !reason.empty()) return reason;
    if (change.by_siblings) ++sibling_rounds;
    const bool was_saturated = saturated;
    saturated = !change.any;
    if (change.any || back_off_.release(iteration)) continue;
    if (!may_join) return "sibling limit";
    if (siblings && (was_saturated || iteration == 0)) {
      // Of the siblings, only the largest groups were tried, and only those that need each other in no form.
      const auto by_siblings = [](const TermApplication& one) { return one.direction->several_roots(); };
      return std::ranges::any_of(applications_, by_siblings) ? "sibling limit" : "exhausted";
    }
  }
  return "iteration limit";
}

std::string Exploration::iterate(size_t iteration, bool siblings, Change& change) {
  std::string reason;
  const std::vector<Found> all = match_all(iteration, siblings);
  for (const Found& found : all) {
    reason = limit_reached();
    if (!reason.empty()) break;
    if (!apply(found)) continue;
    change.any = true;
    change.by_siblings = change.by_siblings || found.direction->several_roots();
  }
  graph_.rebuild();
  return reason.empty() ? limit_reached() : reason;
}

std::string Exploration::limit_reached() const {
  if (limits_.end.passed()) return limits_.end.reason();
  if (graph_.egraph().size() > limits_.nodes) return "node limit";
  const auto bytes = kBytesPerTerm * static_cast<int64_t>(graph_.egraph().ids()) +
                     kBytesPerApplication * static_cast<int64_t>(applications_.size());
  return bytes > limits_.bytes ? "memory" : "";
}

std::vector<Exploration::Found> Exploration::match_all(size_t iteration, bool siblings) {
  const TermIndex index(graph_);
  ClassNeeds needs(graph_.egraph());
  std::vector<Found> out;
  for (size_t rule = 0; rule < directions_.size(); ++rule) {
    const Direction& direction = directions_[rule];
    if (limits_.end.passed()) break;
    if ((direction.several_roots() && !siblings) || back_off_.banned(rule, iteration)) continue;
    if (index.of(*direction.from()[0].op).empty()) continue;
    const size_t max_matches = back_off_.max_matches(rule);
    constexpr size_t kNodesPerMatch = 100;
    const TermMatchLimits limits{.matches = max_matches + 1,
                                 .nodes = kNodesPerMatch * max_matches,
                                 .max_siblings = SIZE_MAX,
                                 .whole_groups = true,
                                 .run_time_roots = true,
                                 .needs = &needs,
                                 .end = limits_.end};
    bool cut_off = false;
    std::vector<TermMatch> found = match_terms(graph_, index, direction, limits, &cut_off);
    if (cut_off) {
      back_off_.ban(rule, iteration);
      continue;
    }
    matches_ += static_cast<int64_t>(found.size());
    for (TermMatch& match : found) out.push_back({&direction, std::move(match)});
  }
  return out;
}

bool Exploration::apply(const Found& found) {
  // A root may have become a weight since it was matched.
  if (std::ranges::any_of(found.match.roots, [&](EClassId root) { return graph_.is_constant_derived(root); }))
    return false;
  auto application = apply_rule(graph_, *found.direction, found.match, false);
  if (!application || !is_new(*application)) return false;
  bool joined = false;
  for (size_t i = 0; i < application->to.size(); ++i)
    joined = graph_.merge(application->from[i], application->to[i], 0) || joined;
  applications_.push_back(std::move(*application));
  return joined;
}

bool Exploration::is_new(const TermApplication& application) {
  return application.from != application.to &&
         known_.emplace(application.direction, application.from, application.to).second;
}

}  // namespace isomer
