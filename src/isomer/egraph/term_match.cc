#include "isomer/egraph/term_match.h"

#include <algorithm>

#include "isomer/egraph/open_match.h"
#include "isomer/egraph/solve.h"

namespace isomer {
namespace {

using Next = std::function<void()>;
using Place = TermIndex::Place;

/// Backtracking: calls the continuation once for every way to satisfy a pattern, and unbinds its variables afterwards.
class TermMatcher {
 public:
  TermMatcher(const TermGraph& graph, const TermIndex& index, const Direction& direction, const TermMatchLimits& limits,
              std::vector<TermMatch>& out)
      : graph_(graph), index_(index), direction_(direction), limits_(limits), out_(out) {}

  void run() { root(0); }

 private:
  bool full() const { return out_.size() >= limits_.matches || tried_ >= limits_.nodes; }

  // Roots ------------------------------------------------------------------------------------------------------------

  void root(size_t i) {
    if (i == direction_.from().size()) return let(direction_.forward ? 0 : direction_.rule.lets.size());
    sibling(i, 0);
  }

  /// Matches the term of root `i`, for the `n`-th time.
  void sibling(size_t i, size_t n) {
    const Term& term = direction_.from()[i];
    for (const Place& place : index_.of(*term.op)) {
      if (full()) return;
      if (std::ranges::find(roots_, place.id) != roots_.end()) continue;
      repeat(term.repeated ? std::optional(n) : std::nullopt, [&] {
        node(term, *place.node, [&] {
          repeat(std::nullopt, [&] {
            with_root(*place.node, [&] {
              root(i + 1);
              if (term.repeated && n + 1 < limits_.max_siblings) sibling(i, n + 1);
            });
          });
        });
      });
    }
  }

  void with_root(const ENode& node, const Next& next) {
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
    operands({&let.term, 1}, 0, ids, 0, [&] { this->let(n - 1); });
  }

  void finish() {
    OpenMatch open(graph_, index_, direction_, limits_.max_guesses);
    open.complete(binding_, equations_, [&](Binding binding) {
      if (out_.size() < limits_.matches) out_.push_back({std::move(binding), roots_});
    });
  }

  // Terms ------------------------------------------------------------------------------------------------------------

  void repeat(std::optional<size_t> repetition, const Next& next) {
    std::swap(repetition, repetition_);
    next();
    std::swap(repetition, repetition_);
  }

  /// Matches a term that stands for one operand.
  void leaf(const Term& term, EClassId id, const Next& next) {
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
        return;
    }
  }

  void value(const std::string& name, EClassId id, const Next& next) {
    if (const ValueId* bound = binding_.value(name)) {
      if (*bound == id) next();
      return;
    }
    binding_.values.emplace_back(name, id);
    next();
    binding_.values.pop_back();
  }

  /// `{?i}` or, backward, `{list}`: a constant list of integers.
  void integers(const Expr& expr, EClassId id, const Next& next) {
    const Tensor* tensor = graph_.constant(id);
    if (tensor == nullptr || tensor->dtype() != DType::Int64 || tensor->dims().size() != 1) return;
    const auto elements = tensor->data<int64_t>();
    equation(expr, Dims(elements.begin(), elements.end()), next);
  }

  /// Requires that an expression has a value: binds a variable, checks the value, or leaves it for later.
  void equation(const Expr& expr, ExprValue wanted, const Next& next) {
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

  /// `@x` in a repetition: its element for this repetition.
  void element(const std::string& name, EClassId id, const Next& next) {
    if (!repetition_) return;
    const size_t n = *repetition_;
    auto found = std::ranges::find(binding_.sequences, name, &std::pair<std::string, std::vector<ValueId>>::first);
    if (found == binding_.sequences.end()) {
      if (n != 0) return;
      return with_sequence(name, {id}, next);
    }
    if (n < found->second.size()) {
      if (found->second[n] == id) next();
      return;
    }
    if (n > found->second.size()) return;
    const auto at = static_cast<size_t>(found - binding_.sequences.begin());
    found->second.push_back(id);
    next();
    binding_.sequences[at].second.pop_back();
  }

  void with_sequence(const std::string& name, std::vector<ValueId> ids, const Next& next) {
    binding_.sequences.emplace_back(name, std::move(ids));
    next();
    binding_.sequences.pop_back();
  }

  void node(const Term& term, const ENode& node, const Next& next) {
    if (++tried_ > limits_.nodes) return;
    const Attrs& attrs = graph_.at(node.label).attrs;
    bare_attributes(term, attrs, 0, [&] {
      const Next rest = [&] { attributes(term, attrs, 0, next); };
      operands(term.operands, 0, node.children, 0, rest);
      if ((node.label & EGraph::kCommutative) == 0 || node.children.size() != 2) return;
      if (node.children[0] == node.children[1]) return;
      const EClassId swapped[] = {node.children[1], node.children[0]};
      operands(term.operands, 0, swapped, 0, rest);
    });
  }

  /// Attributes that are a bare variable are bound before the operands are matched, so that expressions below can use
  /// them.
  void bare_attributes(const Term& term, const Attrs& attrs, size_t i, const Next& next) {
    if (i == term.attrs.size()) return next();
    const auto& [name, expr] = term.attrs[i];
    const bool bare = expr.kind == Expr::Kind::Variable && expr.name[0] == '?' &&
                      binding_.value(std::string_view(expr.name).substr(1)) == nullptr;
    if (!bare) return bare_attributes(term, attrs, i + 1, next);
    const AttrValue* actual = attrs.find(name);
    if (actual == nullptr) return;
    equation(expr, from_attr(*actual), [&] { bare_attributes(term, attrs, i + 1, next); });
  }

  void attributes(const Term& term, const Attrs& attrs, size_t i, const Next& next) {
    if (i == term.attrs.size()) return record(term, attrs, next);
    const auto& [name, expr] = term.attrs[i];
    const AttrValue* actual = attrs.find(name);
    if (actual == nullptr) return;
    const Next rest = [&] { attributes(term, attrs, i + 1, next); };
    const auto* tensor = std::get_if<Tensor>(actual);
    if (tensor == nullptr || !is_bound(expr, binding_)) return equation(expr, from_attr(*actual), rest);
    // A number may be written for a constant of one element.
    const auto wanted = evaluate(expr, ExprContext{binding_, graph_, repetition_});
    if (!wanted) return;
    const auto as_tensor = to_attr(*wanted, AttrKind::Tensor, tensor->dtype());
    if (as_tensor && *as_tensor == *actual) rest();
  }

  /// Matches all attributes that are not named: a record takes them, or they must equal their presets.
  void record(const Term& term, const Attrs& attrs, const Next& next) {
    const OpDef& op = *term.op;
    Attrs others = attrs;
    for (const auto& [name, expr] : term.attrs) others = others.without(name);
    if (term.rest.empty()) {
      const bool preset = std::ranges::all_of(others.entries(), [&](const Attrs::Entry& entry) {
        const AttrDef* def = op.find_attr(entry.first);
        return def != nullptr && def->preset && *def->preset == entry.second;
      });
      if (preset) next();
      return;
    }
    if (const Attrs* bound = binding_.record(term.rest)) {
      if (*bound == others) next();
      return;
    }
    binding_.records.emplace_back(term.rest, std::move(others));
    next();
    binding_.records.pop_back();
  }

  // Operands ---------------------------------------------------------------------------------------------------------

  void operands(std::span<const Term> terms, size_t t, std::span<const EClassId> ids, size_t o, const Next& next) {
    if (full()) return;
    if (t == terms.size()) {
      if (o == ids.size()) next();
      return;
    }
    const Term& term = terms[t];
    const size_t left = ids.size() - o;
    if (term.repeated || (term.kind == Term::Kind::Sequence && !repetition_)) {
      const bool last = t + 1 == terms.size();
      const size_t least = std::max<size_t>(term.repeated ? 1 : 0, last ? left : 0);
      for (size_t n = least; n <= left; ++n) {
        const Next rest = [&] { operands(terms, t + 1, ids, o + n, next); };
        if (term.repeated)
          repeated(term, ids.subspan(o, n), 0, rest);
        else
          sequence(term.name, ids.subspan(o, n), rest);
      }
      return;
    }
    if (left == 0) return;
    if (term.kind != Term::Kind::Apply) return leaf(term, ids[o], [&] { operands(terms, t + 1, ids, o + 1, next); });
    apply(term, ids.subspan(o), [&](size_t n) { operands(terms, t + 1, ids, o + n, next); });
  }

  /// Matches a node with all its results, in order, of which the first is `ids[0]`.
  void apply(const Term& term, std::span<const EClassId> ids, const std::function<void(size_t)>& next) {
    for (const ENode& node : graph_.egraph().nodes(ids[0])) {
      const TermLabel& label = graph_.at(node.label);
      if (label.op != term.op || label.result != 0 || label.results > ids.size()) continue;
      bool all = true;
      for (uint32_t r = 1; all && r < label.results; ++r) all = result(node, r) == ids[r];
      if (all) this->node(term, node, [&] { next(label.results); });
    }
  }

  void sequence(const std::string& name, std::span<const EClassId> ids, const Next& next) {
    if (const auto* bound = binding_.sequence(name)) {
      if (std::ranges::equal(*bound, ids)) next();
      return;
    }
    with_sequence(name, {ids.begin(), ids.end()}, next);
  }

  void repeated(const Term& term, std::span<const EClassId> ids, size_t n, const Next& next) {
    if (n == ids.size()) return repeat(std::nullopt, next);
    repeat(n, [&] {
      const Next rest = [&] { repeated(term, ids, n + 1, next); };
      if (term.kind != Term::Kind::Apply) return leaf(term, ids[n], rest);
      apply(term, ids.subspan(n, 1), [&](size_t) { rest(); });
    });
  }

  const TermGraph& graph_;
  const TermIndex& index_;
  const Direction& direction_;
  const TermMatchLimits& limits_;
  std::vector<TermMatch>& out_;
  Binding binding_;
  std::vector<OpenEquation> equations_;
  std::optional<size_t> repetition_;
  std::vector<EClassId> roots_;
  size_t tried_ = 0;
};

}  // namespace

std::vector<TermMatch> match_terms(const TermGraph& graph, const TermIndex& index, const Direction& direction,
                                   const TermMatchLimits& limits) {
  std::vector<TermMatch> out;
  TermMatcher(graph, index, direction, limits, out).run();
  return out;
}

}  // namespace isomer
