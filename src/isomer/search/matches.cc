#include "isomer/search/matches.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "isomer/base/hash_index.h"
#include "isomer/search/match_classes.h"

namespace isomer {
namespace {

constexpr NodeId kNoImage = std::numeric_limits<NodeId>::max();
constexpr uint32_t kFar = std::numeric_limits<uint32_t>::max() / 2;

/// Maps values and nodes of the graph before a rewrite to the graph after it.
class Correspondence {
 public:
  Correspondence(const Rewrite& rewrite, const Graph& after) : before_(rewrite.before), after_(after) {
    HashIndex by_hash;
    by_hash.reserve(after.num_values());
    for (ValueId value = 0; value < after.num_values(); ++value) by_hash.emplace(after.value_hash(value), value);
    values_.assign(before_.num_values(), kNoValue);
    for (ValueId value = 0; value < before_.num_values(); ++value) {
      const ValueId* found = by_hash.find(rewrite.delta.value_hashes[value]);
      if (found != nullptr) values_[value] = *found;
    }
    measure();
  }

  ValueId value(ValueId before) const { return before == kNoValue ? kNoValue : values_[before]; }
  /// Whether a node of the graph after is new, or has other operands or attributes than before.
  bool is_changed(NodeId after) const { return distances_[after] == 0; }
  /// Whether a pattern of this depth (RuleIndex::Entry) can reach a change from a node of the graph after: one of its
  /// operators can reach a changed node, or one of its variables a value of which something else is known than before.
  bool reaches_change(NodeId after, uint32_t depth) const {
    return distances_[after] + 1 < depth || value_distances_[after] < depth;
  }
  /// Whether all unchanged nodes are in the same order.
  bool keeps_order() const { return keeps_order_; }
  /// Whether a value of the graph after has other readers than before.
  bool has_other_readers(ValueId after) const { return reread_[after]; }

 private:
  void measure() {
    // A node is unchanged if it is the image of one node, which it equals.
    std::vector<int> images(after_.nodes().size(), 0);
    distances_.assign(after_.nodes().size(), kFar);
    value_distances_.assign(after_.nodes().size(), kFar);
    for (const Node& node : before_.nodes()) {
      NodeId last = kNoImage;  // the results of a node that stays have one image
      for (uint32_t r = 0; r < node.num_results; ++r) {
        if (value(node.result(r)) == kNoValue) continue;
        const NodeId image = after_.producer(value(node.result(r)));
        if (std::exchange(last, image) == image) continue;
        ++images[image];
        const bool as_before = known_as_before(node, node.result(r));
        if (!as_before) value_distances_[image] = 0;
        if (!as_before || !same(node, after_.node(image))) distances_[image] = 0;
      }
    }
    for (NodeId id = 0; id < distances_.size(); ++id) {
      if (images[id] != 1) distances_[id] = value_distances_[id] = 0;
      for (const ValueId operand : after_.operands(after_.node(id))) {
        if (operand == kNoValue) continue;
        const NodeId above = after_.producer(operand);
        distances_[id] = std::min(distances_[id], distances_[above] + 1);
        value_distances_[id] = std::min(value_distances_[id], value_distances_[above] + 1);
      }
    }
    compare_order();
    compare_readers();
  }

  void compare_order() {
    NodeId last = 0;
    for (const Node& node : before_.nodes()) {
      if (node.num_results == 0 || value(node.result()) == kNoValue) continue;
      const NodeId image = after_.producer(value(node.result()));
      if (is_changed(image)) continue;
      keeps_order_ = keeps_order_ && image >= last;
      last = image;
    }
  }

  void compare_readers() {
    reread_.assign(after_.num_values(), true);
    for (ValueId before = 0; before < before_.num_values(); ++before) {
      if (values_[before] == kNoValue) continue;
      const auto readers = after_.consumers(values_[before]);
      reread_[values_[before]] = readers.size() != before_.consumers(before).size() ||
                                 std::ranges::any_of(readers, [&](NodeId id) { return is_changed(id); });
    }
  }

  /// Whether conditions see the same in the image of a node's result, which has the same type: whether it is known, or
  /// a weight. A node that no longer runs does not match as a root either.
  bool known_as_before(const Node& before, ValueId result) const {
    const ValueId image = value(result);
    return before_.is_constant_derived(result) == after_.is_constant_derived(image) &&
           before_.is_weight(result) == after_.is_weight(image) &&
           before.is_constant() == after_.producer_node(image).is_constant();
  }

  bool same(const Node& before, const Node& after) const {
    const auto had = before_.operands(before);
    const auto has = after_.operands(after);
    return before.op == after.op && before.attrs == after.attrs && had.size() == has.size() &&
           std::equal(had.begin(), had.end(), has.begin(), [&](ValueId b, ValueId a) { return value(b) == a; });
  }

  const Graph& before_;
  const Graph& after_;
  std::vector<ValueId> values_;  // by value of the graph before
  // By node of the graph after: the number of steps up to the nearest node that is changed, and up to the nearest one
  // of whose results something else is known, or which several nodes have become.
  std::vector<uint32_t> distances_, value_distances_;
  std::vector<bool> reread_;  // by value of the graph after
  bool keeps_order_ = true;
};

std::span<const ValueId> one_or_all(const ValueId& value) { return {&value, 1}; }
std::span<const ValueId> one_or_all(const std::vector<ValueId>& values) { return values; }

Match translated(const Match& match, const Correspondence& to, const Graph& before, const Graph& after) {
  Match out = match;
  for (auto& [name, value] : out.binding.values) value = to.value(value);
  for (auto& [name, values] : out.binding.sequences)
    for (ValueId& value : values) value = to.value(value);
  for (ValueId& root : out.roots) root = to.value(root);
  for (NodeId& node : out.nodes) node = after.producer(to.value(before.node(node).result()));
  std::sort(out.nodes.begin(), out.nodes.end());
  return out;
}

/// Whether a match of the graph after is a match of the graph before, with nodes of the same kinds and the same values.
bool corresponds(const Match& match, const Match& earlier, const Rewrite& rewrite, const Correspondence& to,
                 const Graph& after) {
  const auto same_values = [&](std::span<const ValueId> now, std::span<const ValueId> then) {
    return std::ranges::equal(now, then, [&](ValueId one, ValueId other) {
      return one == to.value(other) && (one != kNoValue || other == kNoValue);
    });
  };
  if (!same_values(match.roots, earlier.roots)) return false;
  std::vector<NodeId> nodes;
  for (const NodeId id : earlier.nodes) {
    const Node& node = rewrite.before.node(id);
    const ValueId image = to.value(node.result());
    if (image == kNoValue) return false;
    const Node& now = after.producer_node(image);
    if (now.op != node.op || !(now.attrs == node.attrs)) return false;
    nodes.push_back(after.producer(image));
  }
  std::ranges::sort(nodes);
  if (nodes != match.nodes) return false;
  const auto same = [&](const auto& now, const auto& then) {
    return now.first == then.first && same_values(one_or_all(now.second), one_or_all(then.second));
  };
  return std::ranges::equal(match.binding.values, earlier.binding.values, same) &&
         std::ranges::equal(match.binding.sequences, earlier.binding.sequences, same) &&
         (match.rule->choices.empty() || parameters_of(match) == parameters_of(earlier));
}

/// Finds the matches of a rule with several roots where they may differ from the earlier ones, and takes the others
/// from those. Matches that are found again get the targets of the earlier ones.
void match_roots(const RuleIndex::Entry& entry, const OpIndex& index, std::span<const Match* const> earlier,
                 const Rewrite& rewrite, const Correspondence& to, const Graph& after, std::vector<Match>& out) {
  const SharedValue& shared = entry.plan.shared();
  const auto above = [&](NodeId id) { return to.reaches_change(id, entry.depth); };
  const auto readers = [&](ValueId value) { return to.has_other_readers(value); };
  const bool ordered = to.keeps_order() || !entry.several_ways;
  std::vector<NodeId> others;
  std::vector<NodeId> same;  // first roots with the matches that they had
  for (const NodeId id : index.nodes(*entry.plan.rule().sources[0].op))
    if (shared.may_have_second(after, id))
      (!ordered || shared.may_differ(after, id, {above, readers}) ? others : same).push_back(id);
  std::vector<Match> found = find_matches_from(after, index, entry.plan, others);
  for (Match& match : found)
    for (const Match* one : earlier)
      if (!match.target && one->target && corresponds(match, *one, rewrite, to, after)) match.target = one->target;
  if (!same.empty()) {
    for (const Match* match : earlier) {
      const ValueId root = to.value(match->roots[0]);
      if (root != kNoValue && std::ranges::binary_search(same, after.producer(root)))
        found.push_back(translated(*match, to, rewrite.before, after));
    }
    const auto first_root = [](const Match& match) { return match.roots[0]; };
    if (to.keeps_order())
      std::ranges::stable_sort(found, {}, first_root);
    else
      std::ranges::stable_sort(found, {}, &Match::roots);
  }
  std::move(found.begin(), found.end(), std::back_inserter(out));
}

/// Returns the matches in the order of their rules, which is that of `rules` as they are in one array.
std::vector<const Match*> by_rule(const std::vector<Match>& matches) {
  std::vector<const Match*> out;
  out.reserve(matches.size());
  for (const Match& match : matches) out.push_back(&match);
  const auto earlier = [](const Match* a, const Match* b) { return std::less<>()(a->rule, b->rule); };
  if (!std::ranges::is_sorted(out, earlier)) std::ranges::stable_sort(out, earlier);
  return out;
}

std::vector<Match> inherited_matches(const Rewrite& rewrite, const Correspondence& to, const Graph& after,
                                     const RuleIndex& rules) {
  const OpIndex index(after);
  const OpSet ops = ops_of(after);
  std::vector<Match> out;
  const std::vector<const Match*> sorted = by_rule(rewrite.matches);
  auto next = sorted.begin();
  for (const RuleIndex::Entry& entry : rules.entries()) {
    const Rule& rule = entry.plan.rule();
    while (next != sorted.end() && std::less<>()((*next)->rule, &rule)) ++next;  // of other rules
    const auto own = next;
    while (next != sorted.end() && (*next)->rule == &rule) ++next;
    const std::span<const Match* const> earlier(own, next);
    if (!ops.may_contain(entry.ops)) continue;
    if (!entry.plan.single_root()) {
      match_roots(entry, index, earlier, rewrite, to, after, out);
      continue;
    }
    const size_t first = out.size();
    for (const Match* match : earlier) {
      const ValueId root = to.value(match->roots[0]);
      if (root == kNoValue || to.reaches_change(after.producer(root), entry.depth)) continue;
      out.push_back(translated(*match, to, rewrite.before, after));
    }
    for (const NodeId id : index.nodes(*rule.sources[0].op))
      if (to.reaches_change(id, entry.depth)) find_matches_at(after, index, entry.plan, id, out);
    const auto by_root = [](const Match& a, const Match& b) { return a.roots[0] < b.roots[0]; };
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(first);
    if (!std::is_sorted(begin, out.end(), by_root)) std::stable_sort(begin, out.end(), by_root);
  }
  return out;
}

std::vector<bool> inherited_marks(const Rewrite& rewrite, const Correspondence& to, const Graph& after) {
  std::vector<bool> out(after.nodes().size());
  for (NodeId id = 0; id < out.size(); ++id) out[id] = to.is_changed(id);
  for (NodeId id = 0; id < rewrite.marks.size(); ++id) {
    const Node& node = rewrite.before.node(id);
    if (!rewrite.marks[id] || node.num_results == 0) continue;
    const ValueId image = to.value(node.result());
    if (image != kNoValue) out[after.producer(image)] = true;
  }
  return out;
}

}  // namespace

std::vector<Match> all_matches(const Graph& graph, const RuleIndex& rules, size_t limit, const Deadline& deadline) {
  const OpIndex index(graph);
  const OpSet ops = ops_of(graph);
  std::vector<Match> out;
  for (const RuleIndex::Entry& entry : rules.entries()) {
    if (deadline.passed()) break;
    if (!ops.may_contain(entry.ops)) continue;
    std::vector<Match> found = find_matches(graph, index, entry.plan, limit, &deadline);
    std::move(found.begin(), found.end(), std::back_inserter(out));
  }
  return out;
}

std::vector<Match> all_matches(const Graph& graph, std::span<const Rule> rules, size_t limit,
                               const Deadline& deadline) {
  return all_matches(graph, RuleIndex(rules), limit, deadline);
}

Inherited inherit(const Rewrite& rewrite, const Graph& after, const RuleIndex& rules) {
  const Correspondence to(rewrite, after);
  return {inherited_matches(rewrite, to, after, rules), inherited_marks(rewrite, to, after)};
}

}  // namespace isomer
