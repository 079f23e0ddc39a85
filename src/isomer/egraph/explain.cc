#include "isomer/egraph/explain.h"

#include <algorithm>

#include "isomer/base/hash.h"

namespace isomer {
namespace {

/// Removes steps that lead from a term back to it.
void cut_loops(const ETermPtr& start, std::vector<EStep>& steps) {
  std::unordered_map<uint64_t, size_t> last;  // by hash of a term: the number of steps before its last occurrence
  last[start->hash] = 0;
  for (size_t i = 0; i < steps.size(); ++i) last[steps[i].after->hash] = i + 1;
  std::vector<EStep> kept;
  for (size_t i = last[start->hash]; i < steps.size();) {
    const size_t next = last[steps[i].after->hash];
    kept.push_back(std::move(steps[i]));
    i = next;
  }
  steps = std::move(kept);
}

}  // namespace

ETermPtr make_term(uint32_t label, std::vector<ETermPtr> children) {
  std::vector<uint64_t> hashes;
  hashes.reserve(children.size());
  for (const ETermPtr& child : children) hashes.push_back(child->hash);
  if ((label & EGraph::kCommutative) != 0) std::ranges::sort(hashes);
  uint64_t hash = hash_mix(label, children.size());
  for (const uint64_t child : hashes) hash = hash_mix(hash, child);
  return std::make_shared<const ETerm>(ETerm{label, std::move(children), hash});
}

Explainer::Explainer(const EGraph& graph, size_t max_steps)
    : graph_(graph), max_steps_(max_steps), edges_(graph.ids()), terms_(graph.ids()) {
  const auto unions = graph.unions();
  for (uint32_t i = 0; i < unions.size(); ++i) {
    edges_[unions[i].a].push_back({unions[i].b, i});
    edges_[unions[i].b].push_back({unions[i].a, i});
  }
}

ETermPtr Explainer::term(EClassId id) {
  if (terms_[id]) return terms_[id];
  // Children are older than their users, so this ends; terms are only as deep as a few rules make them.
  std::vector<ETermPtr> children;
  for (const EClassId child : graph_.term(id).children) children.push_back(term(child));
  return terms_[id] = make_term(graph_.term(id).label, std::move(children));
}

std::optional<std::vector<EStep>> Explainer::chain(EClassId a, EClassId b) {
  made_ = 0;
  auto out = steps(a, b, UINT32_MAX);
  if (out) cut_loops(term(a), *out);
  return out;
}

std::optional<std::vector<uint32_t>> Explainer::path(EClassId a, EClassId b, uint32_t before) {
  // Depth first; in a forest there is one path.
  struct Visit {
    EClassId id;
    EClassId from;
    size_t next;
  };
  std::vector<Visit> stack{{a, kUnbound, 0}};
  std::vector<uint32_t> taken;
  while (!stack.empty()) {
    Visit& top = stack.back();
    if (top.id == b) return taken;
    const auto& edges = edges_[top.id];
    while (top.next < edges.size() && (edges[top.next].to == top.from || edges[top.next].union_index >= before))
      ++top.next;
    if (top.next == edges.size()) {
      stack.pop_back();
      if (!taken.empty()) taken.pop_back();
      continue;
    }
    const Edge edge = edges[top.next++];
    taken.push_back(edge.union_index);
    stack.push_back({edge.to, top.id, 0});
  }
  return std::nullopt;
}

std::optional<std::vector<EStep>> Explainer::steps(EClassId a, EClassId b, uint32_t before) {
  const auto unions = path(a, b, before);
  if (!unions) return std::nullopt;
  std::vector<EStep> out;
  for (const uint32_t index : *unions) {
    const EGraph::Union& link = graph_.unions()[index];
    const bool forward = link.a == a;
    const EClassId next = forward ? link.b : link.a;
    if (link.reason != EGraph::kCongruence) {
      if (++made_ > max_steps_) return std::nullopt;
      out.push_back({index, forward, term(next)});
    } else {
      auto inner = congruence(a, next, index);
      if (!inner) return std::nullopt;
      std::move(inner->begin(), inner->end(), std::back_inserter(out));
    }
    a = next;
  }
  return out;
}

std::optional<std::vector<EStep>> Explainer::congruence(EClassId a, EClassId b, uint32_t before) {
  const ENode& from = graph_.term(a);
  std::vector<EClassId> to = graph_.term(b).children;
  if ((from.label & EGraph::kCommutative) != 0 && to.size() == 2 &&
      !(path(from.children[0], to[0], before) && path(from.children[1], to[1], before)))
    std::swap(to[0], to[1]);
  std::vector<ETermPtr> children = term(a)->children;
  std::vector<EStep> out;
  for (size_t i = 0; i < to.size(); ++i) {
    const auto inner = steps(from.children[i], to[i], before);
    if (!inner) return std::nullopt;
    for (const EStep& step : *inner) {
      if (++made_ > max_steps_) return std::nullopt;
      children[i] = step.after;
      out.push_back({step.union_index, step.forward, make_term(from.label, children)});
    }
    // Commutative operands within it may be in the other order.
    children[i] = term(to[i]);
  }
  return out;
}

}  // namespace isomer
