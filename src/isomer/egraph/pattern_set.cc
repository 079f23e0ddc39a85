#include "isomer/egraph/pattern_set.h"

namespace isomer {

uint32_t PatternSet::follow(uint32_t place, const EPattern& pattern) {
  const bool variable = pattern.label == EPattern::kVariable;
  const uint32_t number = variable ? pattern.variable : static_cast<uint32_t>(pattern.children.size());
  uint32_t to = 0;
  for (const Place::Branch& branch : places_[place].branches)
    if (branch.label == pattern.label && branch.number == number) to = branch.to;
  if (to == 0) {
    to = static_cast<uint32_t>(places_.size());
    places_[place].branches.push_back({pattern.label, number, to});
    places_.emplace_back();
  }
  for (const EPattern& child : pattern.children) to = follow(to, child);
  return to;
}

size_t PatternSet::add(const EPattern& pattern) {
  places_[follow(0, pattern)].patterns.push_back(size_);
  return size_++;
}

/// Traverses the tree and the graph together.
class PatternMatcher {
 public:
  PatternMatcher(const PatternSet& set, const EGraph& graph, PatternSet::Visit visit)
      : places_(set.places_), graph_(graph), visit_(visit) {}

  void run(EClassId id) {
    pending_.push_back(graph_.find(id));
    at(places_[0]);
  }

 private:
  void at(const PatternSet::Place& place) {
    for (const size_t pattern : place.patterns) visit_(pattern, subst_);
    if (pending_.empty()) return;
    const EClassId id = pending_.back();
    pending_.pop_back();
    for (const auto& branch : place.branches) {
      if (branch.label == EPattern::kVariable)
        variable(branch.number, id, places_[branch.to]);
      else
        label(branch, id);
    }
    pending_.push_back(id);
  }

  void variable(uint32_t variable, EClassId id, const PatternSet::Place& to) {
    if (variable < subst_.size()) {
      if (subst_[variable] == id) at(to);
      return;
    }
    subst_.push_back(id);
    at(to);
    subst_.pop_back();
  }

  void label(const PatternSet::Place::Branch& branch, EClassId id) {
    for (const ENode& node : graph_.nodes(id)) {
      if (node.label != branch.label || node.children.size() != branch.number) continue;
      const size_t before = pending_.size();
      pending_.insert(pending_.end(), node.children.rbegin(), node.children.rend());
      at(places_[branch.to]);
      pending_.resize(before);
    }
  }

  const std::vector<PatternSet::Place>& places_;
  const EGraph& graph_;
  const PatternSet::Visit visit_;
  std::vector<EClassId> pending_;  // remaining classes, the next one last
  ESubst subst_;
};

void PatternSet::match(const EGraph& graph, EClassId id, Visit visit) const {
  PatternMatcher(*this, graph, visit).run(id);
}

}  // namespace isomer
