#include "isomer/discover/redundancy.h"

#include <algorithm>

namespace isomer {
namespace {

// Labels: results of operators, then constants, then the inputs of the pair in question.
constexpr uint32_t kConstants = 1U << 16;
constexpr uint32_t kInputs = 1U << 17;
uint32_t label_of(const PairNode& node) { return node.op * 4 + node.result; }

/// Returns the pattern of one side; inputs become variables, numbered as `variables` says.
EPattern pattern_of(const TermPair& pair, uint32_t i, std::vector<uint32_t>& variables) {
  const PairNode& node = pair.nodes[i];
  EPattern out;
  if (node.kind == PairNode::Kind::Input) {
    const auto known = std::ranges::find(variables, i);
    out.variable = static_cast<uint32_t>(known - variables.begin());
    if (known == variables.end()) variables.push_back(i);
    return out;
  }
  if (node.kind == PairNode::Kind::Constant) {
    out.label = kConstants + node.op;
    return out;
  }
  out.label = label_of(node);
  out.children.push_back(pattern_of(pair, node.a, variables));
  if (node.b != PairNode::kNone) out.children.push_back(pattern_of(pair, node.b, variables));
  return out;
}

}  // namespace

void EqualityBase::add(const TermPair& pair) {
  ++size_;
  for (const bool forward : {true, false}) {
    const uint32_t from = forward ? pair.left[0] : pair.right[0];
    const uint32_t to = forward ? pair.right[0] : pair.left[0];
    std::vector<uint32_t> variables;
    const EPattern source = pattern_of(pair, from, variables);
    const size_t bound = variables.size();
    EPattern target = pattern_of(pair, to, variables);
    if (variables.size() > bound) continue;  // these variables would be undetermined
    // A bare variable matches everywhere: x => x * 1. Such steps only make terms larger.
    if (source.label == EPattern::kVariable) continue;
    sources_.add(source);
    targets_.push_back({source.label, std::move(target)});
  }
}

class EqualityBase::Saturation {
 public:
  Saturation(const EqualityBase& base, const TermPair& pair, const PairContext& context)
      : base_(base), context_(context), types_(context.types), pair_(pair) {}

  bool run(const SaturationLimits& limits) {
    if (!add_pair()) return false;
    for (size_t round = 0; round < limits.rounds; ++round) {
      if (joined()) return true;
      if (!apply_all(limits.nodes)) break;
    }
    return joined();
  }

 private:
  struct Value {
    TypeId type;
    std::vector<Fp> elements;
  };

  bool joined() const { return graph_.find(left_) == graph_.find(right_); }

  bool add_pair() {
    auto values = evaluate(pair_, context_, 5);
    if (!values) return false;
    std::vector<EClassId> made;
    for (uint32_t i = 0; i < pair_.nodes.size(); ++i) {
      const PairNode& node = pair_.nodes[i];
      if (node.kind == PairNode::Kind::Apply) {
        std::vector<EClassId> children{made[node.a]};
        if (node.b != PairNode::kNone) children.push_back(made[node.b]);
        const auto id = apply(label_of(node), children);
        if (!id) return false;
        made.push_back(*id);
      } else {
        const bool input = node.kind == PairNode::Kind::Input;
        made.push_back(leaf(input ? kInputs + i : kConstants + node.op, {values->types[i], values->values[i]}));
      }
    }
    left_ = made[pair_.left[0]];
    right_ = made[pair_.right[0]];
    graph_.rebuild();
    return true;
  }

  EClassId leaf(uint32_t label, Value value) {
    bool fresh = false;
    const EClassId id = graph_.add({label}, &fresh);
    if (fresh) values_.push_back(std::move(value));
    return id;
  }

  const Value& value(EClassId id) const { return values_[id]; }

  /// Returns the class of an operator over classes; nothing if it does not accept them.
  std::optional<EClassId> apply(uint32_t label, const std::vector<EClassId>& children) {
    const uint32_t op = label / 4;
    const Value& a = value(children[0]);
    const Value* b = children.size() == 2 ? &value(children[1]) : nullptr;
    const TypeTable::Entry& entry = types_.at(op, a.type, b != nullptr ? b->type : TypeId{0});
    if (label % 4 >= entry.maps.size()) return std::nullopt;
    bool fresh = false;
    const EClassId id = graph_.add({label, children}, &fresh);
    if (fresh) {
      const FieldMap& map = entry.maps[label % 4];
      Value made{entry.types[label % 4], std::vector<Fp>(map.elements())};
      map.run(a.elements.data(), b != nullptr ? b->elements.data() : nullptr, made.elements.data());
      values_.push_back(std::move(made));
      if (base_.universe_.ops[op].commutative && children[0] != children[1]) {
        const EClassId turned = graph_.add({label, {children[1], children[0]}}, &fresh);
        if (fresh) values_.push_back(values_[id]);
        graph_.merge(id, turned);
      }
    }
    return id;
  }

  std::optional<EClassId> instantiate(const EPattern& pattern, const ESubst& subst) {
    if (pattern.label == EPattern::kVariable) return subst[pattern.variable];
    if (pattern.label >= kConstants) {
      const uint32_t input = pattern.label - kConstants;
      const auto elements = types_.constant(input);
      return leaf(pattern.label, {types_.constant_type(input), std::vector<Fp>(elements.begin(), elements.end())});
    }
    std::vector<EClassId> children;
    for (const EPattern& child : pattern.children) {
      const auto id = instantiate(child, subst);
      if (!id) return std::nullopt;
      children.push_back(*id);
    }
    return apply(pattern.label, children);
  }

  struct Step {
    EClassId id;
    size_t rule;  ///< its number in the base
    ESubst subst;
  };

  /// Collects everything that can be applied to a class: by label, then in the order in which the equalities were
  /// added.
  void find_steps(EClassId id, std::vector<Step>& steps) const {
    const size_t before = steps.size();
    base_.sources_.match(graph_, id, [&](size_t rule, const ESubst& subst) { steps.push_back({id, rule, subst}); });
    std::ranges::stable_sort(std::span(steps).subspan(before), {},
                             [&](const Step& step) { return std::pair(base_.targets_[step.rule].label, step.rule); });
  }

  /// Runs one round; returns false if nothing changed or the graph is full.
  bool apply_all(size_t limit) {
    std::vector<Step> steps;
    for (const EClassId id : graph_.classes()) find_steps(id, steps);
    bool changed = false;
    for (const Step& step : steps) {
      const size_t before = graph_.ids();
      const auto made = instantiate(base_.targets_[step.rule].pattern, step.subst);
      changed = changed || graph_.ids() != before;
      if (!made || graph_.find(*made) == graph_.find(step.id)) continue;
      if (value(*made).type != value(step.id).type || value(*made).elements != value(step.id).elements) continue;
      changed = graph_.merge(*made, step.id) || changed;
      if (graph_.ids() > limit) break;
    }
    graph_.rebuild();
    return changed && graph_.ids() <= limit;
  }

  const EqualityBase& base_;
  const PairContext& context_;
  TypeTable& types_;
  const TermPair& pair_;
  EGraph graph_;
  std::vector<Value> values_;  // by the id for which a class was created
  EClassId left_ = 0;
  EClassId right_ = 0;
};

bool EqualityBase::derives(const TermPair& pair, const PairContext& context, const SaturationLimits& limits) const {
  return Saturation(*this, pair, context).run(limits);
}

}  // namespace isomer
