#include "isomer/search/guide.h"

#include <algorithm>
#include <deque>

#include "isomer/rules/delta.h"
#include "isomer/rules/rewrite.h"

namespace isomer {

/// The search for one step.
class GuideSearch {
 public:
  GuideSearch(const Guide& guide, const Graph& graph)
      : guide_(guide), terms_(guide.terms_), graph_(graph), located_(graph, guide.terms_), index_(graph) {}

  GuideStep run(const ChosenNodes& chosen, Guide::Order order) {
    GuideStep blocked;
    std::vector<bool> seen(graph_.num_values(), false);
    std::deque<ValueId> pending(graph_.outputs().begin(), graph_.outputs().end());
    if (order == Guide::Order::LastOutputFirst) std::ranges::reverse(pending);
    while (!pending.empty()) {
      const ValueId value = pending.front();
      pending.pop_front();
      if (value == kNoValue || seen[value] || graph_.is_constant_derived(value)) continue;
      seen[value] = true;
      const EClassId id = located_.class_of(value);
      const auto wanted = id == kUnbound ? std::nullopt : chosen(id);
      if (!wanted) {
        if (!blocked.goal) blocked.goal.emplace(id, ENode());
        continue;
      }
      if (located_.node_of(value) == *wanted) {
        const auto operands = graph_.operands(graph_.producer_node(value));
        pending.insert(pending.end(), operands.begin(), operands.end());
        continue;
      }
      goals_.clear();
      if (auto match = towards(value, *wanted)) return {std::move(match), std::pair(id, *wanted)};
      if (!blocked.goal) blocked.goal.emplace(id, *wanted);
    }
    return blocked;
  }

 private:
  using Edge = Guide::Edge;

  /// Returns the first step of bringing a value into the form of a node of its class.
  std::optional<Match> towards(ValueId value, const ENode& wanted) {
    // Each goal is pursued once, also if it fails.
    if (std::ranges::find(goals_, std::pair(value, wanted)) != goals_.end()) return std::nullopt;
    goals_.emplace_back(value, wanted);
    for (const Edge* edge : edges_towards(located_.class_of(value), located_.node_of(value), wanted))
      if (auto match = along(*edge, value)) return match;
    return std::nullopt;
  }

  /// Returns the edges that leave a node of a class towards another one, those with the fewest applications first.
  std::vector<const Edge*> edges_towards(EClassId id, const ENode& from, const ENode& wanted) const {
    const auto found = guide_.edges_.find(id);
    if (found == guide_.edges_.end()) return {};
    const std::vector<Edge>& edges = found->second;
    std::vector<const Edge*> out;
    std::vector<ENode> reached{wanted};  // backward, breadth first
    std::vector<bool> used(edges.size(), false);
    const auto use = [&](size_t i) {
      used[i] = true;
      if (edges[i].from == from) out.push_back(&edges[i]);
      if (std::ranges::find(reached, edges[i].from) == reached.end()) reached.push_back(edges[i].from);
    };
    size_t n = 0;
    const auto follow = [&] {
      for (; n < reached.size(); ++n)
        for (size_t i = 0; i < edges.size(); ++i)
          if (!used[i] && edges[i].to && *edges[i].to == reached[n]) use(i);
    };
    follow();
    // Last come values that variables match: they may have any form.
    for (size_t i = 0; i < edges.size(); ++i)
      if (!edges[i].to) use(i);
    follow();
    return out;
  }

  /// Returns the match of an application at a value, or a step that makes its operands match.
  std::optional<Match> along(const Edge& edge, ValueId value) {
    const TermApplication& application = *edge.application;
    std::vector<ValueId> roots;
    for (size_t i = 0; i < application.from.size(); ++i) {
      const ValueId root = i == edge.root ? value : value_like(application.from[i]);
      if (root == kNoValue) return std::nullopt;
      roots.push_back(root);
    }
    for (size_t i = 0; i < roots.size(); ++i) {
      Form form = formed(roots[i], application.from[i], application);
      if (!form.ready) return std::move(form.step);
    }
    return matched(application, roots);
  }

  /// Returns a value of the class of a term, if possible computed by the same node; kNoValue if there is none.
  ValueId value_like(EClassId term) const {
    const EClassId id = terms_.find(term);
    const ENode node = terms_.egraph().canonical(terms_.egraph().term(term));
    ValueId out = kNoValue;
    for (ValueId value = 0; value < graph_.num_values(); ++value) {
      if (located_.class_of(value) != id) continue;
      if (located_.node_of(value) == node) return value;
      if (out == kNoValue) out = value;
    }
    return out;
  }

  /// Whether a value has the form of a term; if not, the first step towards it, if there is one.
  struct Form {
    bool ready = true;
    std::optional<Match> step = std::nullopt;
  };
  Form formed(ValueId value, EClassId term, const TermApplication& application) {
    if (value == kNoValue) return {};
    const ENode& node = terms_.egraph().term(term);
    const ENode wanted = terms_.egraph().canonical(node);
    if (std::ranges::binary_search(application.leaves, term)) {
      // A condition may ask for a weight. Any other form will do.
      if (!terms_.is_weight(term) || graph_.is_weight(value)) return {};
      return {false, towards(value, wanted)};
    }
    if (located_.class_of(value) != terms_.find(term)) return {false};
    if (located_.node_of(value) != wanted) return {false, towards(value, wanted)};
    const auto operands = graph_.operands(graph_.producer_node(value));
    const bool turned = (node.label & EGraph::kCommutative) != 0 && operands.size() == 2 &&
                        located_.class_of(operands[0]) != terms_.find(node.children[0]);
    for (size_t i = 0; i < operands.size(); ++i) {
      Form form = formed(operands[turned ? 1 - i : i], node.children[i], application);
      if (!form.ready) return form;
    }
    return {};
  }

  /// Returns the match of an application's rule that replaces these values by its targets.
  std::optional<Match> matched(const TermApplication& application, const std::vector<ValueId>& roots) const {
    std::vector<NodeId> nodes;
    for (const ValueId root : roots)
      if (nodes.empty() || nodes.back() != graph_.producer(root)) nodes.push_back(graph_.producer(root));
    const Rule& rule = guide_.rules_[application.direction->number];
    for (Match& match : find_matches_of(graph_, index_, rule, nodes))
      if (match.roots == roots && leads_to(match, application)) return std::move(match);
    return std::nullopt;
  }

  bool leads_to(const Match& match, const TermApplication& application) const {
    const auto after = apply_match(graph_, match);
    if (!after) return false;
    const auto delta = delta_of(graph_, match);
    if (!delta) return false;
    const LocatedGraph located(*after, terms_);
    for (size_t i = 0; i < match.roots.size(); ++i) {
      const EClassId target = application.to[i];
      const ENode node = terms_.egraph().canonical(terms_.egraph().term(target));
      const bool any_form = std::ranges::binary_search(application.leaves, target);
      // The value of another root is gone if only this one's value was read.
      bool gone = match.roots.size() > 1;
      bool found = false;
      for (ValueId value = 0; value < after->num_values() && !found; ++value) {
        if (after->value_hash(value) != delta->value_hashes[match.roots[i]]) continue;
        gone = false;
        found = located.class_of(value) == terms_.find(target) && (any_form || located.node_of(value) == node);
      }
      if (!found && !gone) return false;
    }
    return true;
  }

  const Guide& guide_;
  const TermGraph& terms_;
  const Graph& graph_;
  const LocatedGraph located_;
  const OpIndex index_;
  std::vector<std::pair<ValueId, ENode>> goals_;  // that were pursued
};

Guide::Guide(const TermGraph& terms, std::span<const TermApplication> applications, std::span<const Rule> rules)
    : terms_(terms), rules_(rules) {
  for (const TermApplication& application : applications) {
    const auto node = [&](EClassId term) { return terms.egraph().canonical(terms.egraph().term(term)); };
    for (size_t i = 0; i < application.from.size(); ++i) {
      Edge edge{&application, i, node(application.from[i]), std::nullopt};
      if (!std::ranges::binary_search(application.leaves, application.to[i])) edge.to = node(application.to[i]);
      if (edge.to != edge.from) edges_[terms.find(application.from[i])].push_back(std::move(edge));
    }
  }
}

GuideStep Guide::next(const Graph& graph, const ChosenNodes& chosen, Order order) const {
  return GuideSearch(*this, graph).run(chosen, order);
}

}  // namespace isomer
