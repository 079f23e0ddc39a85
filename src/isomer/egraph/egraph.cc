#include "isomer/egraph/egraph.h"

#include <algorithm>
#include <cassert>

#include "isomer/base/hash.h"

namespace isomer {

size_t EGraph::Hash::operator()(const ENode& node) const {
  uint64_t hash = node.label;
  for (const EClassId child : node.children) hash = hash_mix(hash, child);
  return hash;
}

EClassId EGraph::find(EClassId id) const {
  while (parents_[id] != id) {
    parents_[id] = parents_[parents_[id]];
    id = parents_[id];
  }
  return id;
}

ENode EGraph::canonical(ENode node) const {
  for (EClassId& child : node.children) child = find(child);
  if ((node.label & kCommutative) != 0 && node.children.size() == 2 && node.children[0] > node.children[1])
    std::swap(node.children[0], node.children[1]);
  return node;
}

EClassId EGraph::new_id(ENode term) {
  const auto id = static_cast<EClassId>(parents_.size());
  parents_.push_back(id);
  classes_.emplace_back();
  terms_.push_back(std::move(term));
  return id;
}

EClassId EGraph::add(ENode given, bool* fresh) {
  ENode node = canonical(given);
  const auto known = known_.find(node);
  if (fresh != nullptr) *fresh = known == known_.end();
  if (known != known_.end()) return find(known->second);
  const EClassId id = new_id(std::move(given));
  classes_[id].nodes.push_back(node);
  for (const EClassId child : node.children) classes_[child].users.emplace_back(node, id);
  known_.emplace(std::move(node), id);
  ++size_;
  return id;
}

EClassId EGraph::add_term(const ENode& node) {
  const auto [place, fresh] = exact_.try_emplace(node, 0);
  if (!fresh) return place->second;
  const auto known = known_.find(canonical(node));
  if (known == known_.end()) {
    place->second = add(node);
  } else if (terms_[known->second] == node) {
    place->second = known->second;
  } else {
    // It has no users yet, so there is nothing to propagate.
    place->second = new_id(node);
    parents_[place->second] = find(known->second);
    unions_.push_back({known->second, place->second, kCongruence});
  }
  return place->second;
}

std::optional<EClassId> EGraph::lookup(ENode node) const {
  const auto known = known_.find(canonical(std::move(node)));
  if (known == known_.end()) return std::nullopt;
  return find(known->second);
}

bool EGraph::merge(EClassId a, EClassId b, Reason reason) {
  const Union made{a, b, reason};
  a = find(a);
  b = find(b);
  if (a == b) return false;
  unions_.push_back(made);
  if (classes_[a].users.size() + classes_[a].nodes.size() < classes_[b].users.size() + classes_[b].nodes.size())
    std::swap(a, b);
  parents_[b] = a;
  auto move_into = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    from = {};
  };
  move_into(classes_[a].nodes, classes_[b].nodes);
  move_into(classes_[a].users, classes_[b].users);
  dirty_.push_back(a);
  return true;
}

void EGraph::rebuild() {
  while (!dirty_.empty()) {
    std::vector<EClassId> todo;
    std::swap(todo, dirty_);
    for (EClassId& id : todo) id = find(id);
    std::ranges::sort(todo);
    todo.erase(std::unique(todo.begin(), todo.end()), todo.end());
    for (const EClassId id : todo) repair(id);
  }
  size_ = 0;
  for (EClassId id = 0; id < parents_.size(); ++id) {
    if (parents_[id] != id) continue;
    auto& nodes = classes_[id].nodes;
    for (ENode& node : nodes) node = canonical(std::move(node));
    std::ranges::sort(nodes, [](const ENode& x, const ENode& y) {
      return x.label != y.label ? x.label < y.label : x.children < y.children;
    });
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    size_ += nodes.size();
  }
}

void EGraph::repair(EClassId id) {
  auto users = std::move(classes_[find(id)].users);
  classes_[find(id)].users.clear();
  for (auto& [node, owner] : users) {
    known_.erase(node);
    node = canonical(std::move(node));
    const auto [place, fresh] = known_.emplace(node, owner);
    if (!fresh) merge(place->second, owner, kCongruence);
    // The class may have been merged into another one meanwhile.
    classes_[find(id)].users.emplace_back(std::move(node), owner);
  }
}

std::vector<EClassId> EGraph::classes() const {
  std::vector<EClassId> out;
  for (EClassId id = 0; id < parents_.size(); ++id)
    if (parents_[id] == id) out.push_back(id);
  return out;
}

}  // namespace isomer
