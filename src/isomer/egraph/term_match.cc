#include "isomer/egraph/term_match.h"

#include <algorithm>

#include "isomer/egraph/open_match.h"
#include "isomer/egraph/solve.h"
#include "isomer/rules/pattern_walk.h"

namespace isomer {
namespace {

using Place = TermIndex::Place;

/// Backtracking matcher for one direction of a rule.
class TermMatcher : private PatternWalk<TermMatcher> {
 public:
  TermMatcher(const TermGraph& graph, const TermIndex& index, const Direction& direction, const TermMatchLimits& limits,
              std::vector<TermMatch>& out)
      : PatternWalk(own_binding_), graph_(graph), index_(index), direction_(direction), limits_(limits), out_(out) {}

  /// Returns whether a limit ended the search.
  bool run() {
    root(0);
    return full();
  }

 private:
  friend class PatternWalk<TermMatcher>;

  bool full() const { return late_ || out_.size() >= limits_.matches || tried_ >= limits_.nodes; }

  // Roots ------------------------------------------------------------------------------------------------------------

  void root(size_t i) {
    if (i == direction_.from().size()) return let(direction_.forward ? 0 : direction_.rule.lets.size());
    const Term& term = direction_.from()[i];
    if (!term.repeated) return sibling(i, 0);
    with_complete(binding_.sequences.size(), [&] {
      if (!limits_.whole_groups) return sibling(i, 0);
      const std::vector<Place> places = oldest_first(*term.op);
      for (size_t first = 0; first < places.size() && !full(); ++first) group(i, 0, places, first);
    });
  }

  /// Matches the term of root `i`, for the `n`-th time.
  void sibling(size_t i, size_t n) {
    const Term& term = direction_.from()[i];
    for (const Place& place : index_.of(*term.op)) {
      if (full()) return;
      if (!may_be_root(place.id)) continue;
      repeat(term.repeated ? std::optional(n) : std::nullopt, [&] {
        node(term, *place.node, [&] {
          repeat(std::nullopt, [&] {
            with_root(*place.node, [&] {
              if (!term.repeated || has_all_elements(term, n + 1)) root(i + 1);
              if (term.repeated && n + 1 < limits_.max_siblings) sibling(i, n + 1);
            });
          });
        });
      });
    }
  }

  bool may_be_root(EClassId id) const {
    if (limits_.run_time_roots && graph_.is_constant_derived(id)) return false;
    return std::ranges::none_of(roots_, [&](EClassId root) {
      return root == id ||
             (limits_.needs != nullptr && (limits_.needs->needs(root, id) || limits_.needs->needs(id, root)));
    });
  }

  std::vector<Place> oldest_first(const OpDef& op) const {
    const auto all = index_.of(op);
    std::vector<Place> out(all.begin(), all.end());
    std::ranges::stable_sort(out, {}, [&](const Place& place) { return index_.age(place.id); });
    return out;
  }

  /// Matches the repeated term of root `i` at the first of the places from number `p` on where it fits, for the `n`-th
  /// time, and then at all later ones that fit together with it.
  void group(size_t i, size_t n, std::span<const Place> places, size_t p) {
    const size_t end = n == 0 ? p + 1 : places.size();
    for (bool joined = false; p < end && !joined && !full(); ++p) {
      if (!may_be_root(places[p].id)) continue;
      repeat(n, [&] {
        node(direction_.from()[i], *places[p].node, [&] {
          if (joined && n > 0) return;
          repeat(std::nullopt, [&] {
            with_root(*places[p].node, [&] {
              if (n > 0 && !conditions_hold()) return;
              joined = true;
              group(i, n + 1, places, p + 1);
            });
          });
        });
      });
      if (joined) return;
    }
    if (n > 0 && has_all_elements(direction_.from()[i], n)) root(i + 1);
  }

  bool conditions_hold() const {
    return std::ranges::all_of(direction_.rule.conditions, [&](const Expr& condition) {
      return is_met(condition, ExprContext{binding_, graph_});
    });
  }

  void with_root(const ENode& node, Next next) {
    const size_t before = roots_.size();
    for (uint32_t r = 0; r < graph_.at(node.label).results; ++r) roots_.push_back(result(node, r));
    // A result that nothing reads is in no class.
    if (std::ranges::find(roots_, kUnbound) == roots_.end()) next();
    roots_.resize(before);
  }

  EClassId result(const ENode& node, uint32_t r) const {
    return graph_.egraph().lookup({node.label + r, node.children}).value_or(kUnbound);
  }

  /// Backward, the named parts of the target must have the values of their definitions.
  void let(size_t n) {
    if (n == 0) return finish();
    const Let& let = direction_.rule.lets[n - 1];
    std::vector<EClassId> ids;
    if (const ValueId* one = binding_.value(let.name)) ids.push_back(*one);
    if (const auto* many = binding_.sequence(let.name)) ids = *many;
    if (ids.empty()) return;
    operands(nullptr, {&let.term, 1}, 0, ids, 0, [&] { this->let(n - 1); });
  }

  void finish() {
    OpenMatch open(graph_, index_, direction_, limits_.max_guesses);
    open.complete(binding_, equations_, [&](Binding binding) {
      if (out_.size() < limits_.matches) out_.push_back({std::move(binding), roots_});
    });
  }

  // Terms ------------------------------------------------------------------------------------------------------------

  void one(const Term& term, EClassId id, Next next) {
    switch (term.kind) {
      case Term::Kind::Value:
        return value(term.name, id, next);
      case Term::Kind::Sequence:
        return element(term.name, id, next);
      case Term::Kind::Literal: {
        const Tensor* tensor = graph_.constant(id);
        const auto number = tensor == nullptr ? std::nullopt : uniform_value(*tensor);
        // In a source, a literal matches any constant of equal elements; in a target, only a scalar.
        if (number && *number == term.literal && (direction_.forward || tensor->dims().empty()))
          value(term.name, id, next);
        return;
      }
      case Term::Kind::Integers:
        return integers(term.integers, id, next);
      case Term::Kind::Apply:
        return results(term, {&id, 1}, [&](size_t) { next(); });
    }
  }

  /// `{?i}` or, backward, `{list}`: a constant list of integers.
  void integers(const Expr& expr, EClassId id, Next next) {
    const Tensor* tensor = graph_.constant(id);
    if (tensor == nullptr || tensor->dtype() != DType::Int64 || tensor->dims().size() != 1) return;
    const auto elements = tensor->data<int64_t>();
    equation(expr, Dims(elements.begin(), elements.end()), next);
  }

  /// Requires that an expression has a value: binds a variable, checks the value, or leaves it for later.
  void equation(const Expr& expr, ExprValue wanted, Next next) {
    if (is_bound(expr, binding_)) {
      const auto have = evaluate(expr, ExprContext{binding_, graph_, repetition_});
      if (have && equal_values(*have, wanted)) next();
    } else if (expr.kind == Expr::Kind::Variable && expr.name[0] == '?') {
      binding_.attrs.emplace_back(expr.name.substr(1), std::move(wanted));
      next();
      binding_.attrs.pop_back();
    } else {
      equations_.push_back({&expr, std::move(wanted), repetition_});
      next();
      equations_.pop_back();
    }
  }

  void node(const Term& term, const ENode& node, Next next) {
    constexpr size_t kTriesPerLookAtTheClock = 256;
    if (++tried_ % kTriesPerLookAtTheClock == 0) late_ = late_ || limits_.end.passed();
    if (late_ || tried_ > limits_.nodes) return;
    const Attrs& attrs = graph_.at(node.label).attrs;
    bare_attributes(term, attrs, 0, [&] {
      const auto rest = [&] { attributes(term, attrs, 0, next); };
      operands(&term, term.operands, 0, node.children, 0, rest);
      if ((node.label & EGraph::kCommutative) == 0 || node.children.size() != 2) return;
      if (node.children[0] == node.children[1]) return;
      const EClassId swapped[] = {node.children[1], node.children[0]};
      operands(&term, term.operands, 0, swapped, 0, rest);
    });
  }

  /// Attributes that are a bare variable are bound before the operands are matched, so that expressions below can use
  /// them.
  void bare_attributes(const Term& term, const Attrs& attrs, size_t i, Next next) {
    if (i == term.attrs.size()) return next();
    const auto& [name, expr] = term.attrs[i];
    const bool bare = expr.kind == Expr::Kind::Variable && expr.name[0] == '?' &&
                      binding_.value(std::string_view(expr.name).substr(1)) == nullptr;
    if (!bare) return bare_attributes(term, attrs, i + 1, next);
    const AttrValue* actual = attrs.find(name);
    if (actual == nullptr) return;
    equation(expr, from_attr(*actual), [&] { bare_attributes(term, attrs, i + 1, next); });
  }

  void attributes(const Term& term, const Attrs& attrs, size_t i, Next next) {
    if (i == term.attrs.size()) return record(term, attrs, next);
    const auto& [name, expr] = term.attrs[i];
    const AttrValue* actual = attrs.find(name);
    if (actual == nullptr) return;
    const auto rest = [&] { attributes(term, attrs, i + 1, next); };
    const auto* tensor = std::get_if<Tensor>(actual);
    if (tensor == nullptr || !is_bound(expr, binding_)) return equation(expr, from_attr(*actual), rest);
    // A number may be written for a constant of one element.
    const auto wanted = evaluate(expr, ExprContext{binding_, graph_, repetition_});
    if (!wanted) return;
    const auto as_tensor = to_attr(*wanted, AttrKind::Tensor, tensor->dtype());
    if (as_tensor && *as_tensor == *actual) rest();
  }

  /// Matches all attributes that are not named: a record takes them, or they must equal their presets.
  void record(const Term& term, const Attrs& attrs, Next next) {
    if (term.rest.empty()) {
      if (others_are_preset(term, attrs)) next();
      return;
    }
    if (const Attrs* bound = binding_.record(term.rest)) {
      if (others_equal(term, attrs, *bound)) next();
      return;
    }
    binding_.records.emplace_back(term.rest, others(term, attrs));
    next();
    binding_.records.pop_back();
  }

  /// Matches a node with all its results, in order, of which the first is `ids[0]`.
  void results(const Term& term, std::span<const EClassId> ids, FunctionRef<void(size_t)> next) {
    for (const ENode& node : graph_.egraph().nodes(ids[0])) {
      const TermLabel& label = graph_.at(node.label);
      if (label.op != term.op || label.result != 0 || label.results > ids.size()) continue;
      bool all = true;
      for (uint32_t r = 1; all && r < label.results; ++r) all = result(node, r) == ids[r];
      if (all) this->node(term, node, [&] { next(label.results); });
    }
  }

  // Orders are limited with all other tries.
  static bool alike(EClassId, EClassId) { return true; }

  // No one asks why a pattern does not match.
  static void two_values(const std::string&) {}
  static void wrong_count(const Term*, bool) {}

  Binding own_binding_;  // one matcher serves a whole e-graph, so there is nothing to share
  const TermGraph& graph_;
  const TermIndex& index_;
  const Direction& direction_;
  const TermMatchLimits& limits_;
  std::vector<TermMatch>& out_;
  std::vector<OpenEquation> equations_;
  std::vector<EClassId> roots_;
  size_t tried_ = 0;
  bool late_ = false;
};

}  // namespace

std::vector<TermMatch> match_terms(const TermGraph& graph, const TermIndex& index, const Direction& direction,
                                   const TermMatchLimits& limits, bool* cut_off) {
  std::vector<TermMatch> out;
  const bool full = TermMatcher(graph, index, direction, limits, out).run();
  if (cut_off != nullptr) *cut_off = full;
  return out;
}

}  // namespace isomer
