#include "isomer/search/commutation.h"

#include <algorithm>
#include <unordered_map>

#include "isomer/base/hash.h"
#include "isomer/rules/match_target.h"
#include "isomer/rules/walk.h"
#include "isomer/search/match_classes.h"

namespace isomer {
namespace {

/// Whether the test holds for a value that the match binds.
template <class Test>
bool any_bound(const Match& match, const Test& test) {
  const auto holds = [&](ValueId value) { return value != kNoValue && test(value); };
  return std::ranges::any_of(match.binding.values, [&](const auto& bound) { return holds(bound.second); }) ||
         std::ranges::any_of(match.binding.sequences,
                             [&](const auto& bound) { return std::ranges::any_of(bound.second, holds); });
}

/// Whether the test holds for a value that the match binds, or a result of a node that it matches. The values that it
/// replaces are among them.
template <class Test>
bool any_read(const Graph& graph, const Match& match, const Test& test) {
  for (const NodeId id : match.nodes)
    for (uint32_t r = 0; r < graph.node(id).num_results; ++r)
      if (test(graph.node(id).result(r))) return true;
  return any_bound(match, test);
}

/// Whether a term of the target reads a value that depends on run-time inputs.
bool reads_run_time(const Graph& graph, const Match& match, const Term& target) {
  const auto runs = [&](ValueId value) { return value != kNoValue && !graph.is_constant_derived(value); };
  return any_term(target, [&](const Term& term) {
    if (term.kind != Term::Kind::Value && term.kind != Term::Kind::Sequence) return false;
    if (const ValueId* value = match.binding.value(term.name)) return runs(*value);
    if (const auto* values = match.binding.sequence(term.name)) return std::ranges::any_of(*values, runs);
    return std::ranges::any_of(match.rule->lets, [&](const Let& let) {
      return let.name == term.name && reads_run_time(graph, match, let.term);
    });
  });
}

/// Whether a bound value that runs is not read by the target. What only such a value needs is gone afterwards.
bool drops_value(const Graph& graph, const Match& match) {
  const std::vector<ValueId> kept = target_of(graph, match)->bound(match);
  return any_bound(match, [&](ValueId value) {
    return !graph.is_constant_derived(value) && std::ranges::find(kept, value) == kept.end();
  });
}

bool is_movable(const Graph& graph, const Match& match) {
  const Rule& rule = *match.rule;
  return !drops_value(graph, match) && std::ranges::none_of(rule.sources, &Term::repeated) &&
         std::ranges::all_of(rule.targets, [&](const Term& term) { return reads_run_time(graph, match, term); });
}

/// Whether a value may become ambiguous: it is not replaced, and rewrites may change it.
class Bystanders {
 public:
  Bystanders(const Graph& graph, const Match& match) : graph_(graph), replaced_(graph.num_values(), false) {
    for (const ValueId root : match.roots) replaced_[root] = true;
  }
  bool contain(ValueId value) const { return !replaced_[value] && !graph_.is_constant_derived(value); }

 private:
  const Graph& graph_;
  std::vector<bool> replaced_;
};

/// Whether any two values become equal, or one becomes equal to what the target makes. If so, a root is one of such a
/// pair, or a value that the target makes: other values become equal only because their operands do.
bool any_ambiguous(const Match& match, const Delta& delta, const Bystanders& others) {
  std::vector<uint64_t> targets;
  targets.reserve(match.roots.size());
  for (const ValueId root : match.roots) targets.push_back(delta.value_hashes[root]);
  std::ranges::sort(targets);
  if (std::ranges::adjacent_find(targets) != targets.end()) return true;
  std::vector<uint64_t> made = delta.made;
  made.insert(made.end(), targets.begin(), targets.end());
  for (ValueId value = 0; value < delta.value_hashes.size(); ++value)
    if (others.contain(value) && std::ranges::find(made, delta.value_hashes[value]) != made.end()) return true;
  return false;
}

}  // namespace

Footprint footprint_of(const Graph& graph, const Match& match, const Delta& delta) {
  Footprint out{is_movable(graph, match)};
  const Bystanders others(graph, match);
  if (!out.movable || !any_ambiguous(match, delta, others)) return out;
  std::unordered_map<uint64_t, int> images;
  for (const uint64_t hash : delta.value_hashes) ++images[hash];
  for (const uint64_t hash : delta.made) ++images[hash];
  for (ValueId value = 0; value < delta.value_hashes.size(); ++value)
    if (others.contain(value) && images.at(delta.value_hashes[value]) > 1) out.ambiguous.push_back(value);
  return out;
}

Commutation::Commutation(const Graph& graph, const Match& first, const Footprint& footprint, const Delta& delta)
    : graph_(graph),
      first_(first),
      movable_(footprint.movable),
      read_(graph.num_values(), false),
      ambiguous_(graph.num_values(), false) {
  any_read(graph, first, [&](ValueId value) {
    read_[value] = true;
    return false;
  });
  for (const ValueId value : footprint.ambiguous) ambiguous_[value] = true;
  if (first.rule->sources.size() == 1) return;
  above_.resize(graph.num_values());
  for (ValueId value = 0; value < above_.size(); ++value)
    above_[value] = delta.value_hashes[value] != graph.value_hash(value);
  below_.resize(graph.num_values(), false);
  any_bound(first, [&](ValueId value) {
    below_[value] = true;
    return false;
  });
  for (auto id = static_cast<NodeId>(graph.nodes().size()); id-- > 0;) {
    const Node& node = graph.node(id);
    bool needed = false;
    for (uint32_t r = 0; r < node.num_results; ++r) needed = needed || below_[node.result(r)];
    for (const ValueId operand : graph.operands(node))
      if (needed && operand != kNoValue) below_[operand] = true;
  }
}

bool Commutation::spares(const Match& other) const {
  if (!movable_) return false;
  if (std::ranges::any_of(other.roots, [&](ValueId root) { return read_[root]; })) return false;
  if (any_read(graph_, other, [&](ValueId value) { return ambiguous_[value] || replaces(value); })) return false;
  return !closes_cycle_with(other);
}

bool Commutation::spared_by(const Footprint& other) const {
  return other.movable && std::ranges::none_of(other.ambiguous, [&](ValueId value) { return read_[value]; });
}

bool Commutation::replaces(ValueId value) const { return std::ranges::find(first_.roots, value) != first_.roots.end(); }

/// Both are free of cycles by themselves. Together they close one only if each reads something that depends on a root
/// of the other.
bool Commutation::closes_cycle_with(const Match& other) const {
  if (above_.empty() || other.rule->sources.size() == 1) return false;
  return any_bound(other, [&](ValueId value) { return above_[value]; }) &&
         std::ranges::any_of(other.roots, [&](ValueId root) { return below_[root]; });
}

uint64_t identity_of(const Match& match, std::span<const uint64_t> value_hashes) {
  uint64_t hash = hash_mix(match.rule->sources.size(), match.roots.size());
  const auto mix = [&](ValueId value) { hash = hash_mix(hash, value == kNoValue ? 0 : value_hashes[value]); };
  for (const ValueId root : match.roots) mix(root);
  for (const auto& [name, value] : match.binding.values) mix(value);
  for (const auto& [name, values] : match.binding.sequences) {
    hash = hash_mix(hash, values.size());
    for (const ValueId value : values) mix(value);
  }
  hash = hash_text(match.rule->name, hash);
  return match.rule->choices.empty() ? hash : hash_text(parameters_of(match), hash);
}

std::vector<uint64_t> value_hashes_of(const Graph& graph) {
  std::vector<uint64_t> hashes(graph.num_values());
  for (ValueId value = 0; value < hashes.size(); ++value) hashes[value] = graph.value_hash(value);
  return hashes;
}

}  // namespace isomer
