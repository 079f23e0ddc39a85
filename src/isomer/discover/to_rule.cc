#include "isomer/discover/to_rule.h"

#include <algorithm>
#include <functional>

#include "isomer/rules/expr.h"

namespace isomer {
namespace {

Expr integer(int64_t value) {
  Expr out;
  out.integer = value;
  return out;
}

Expr call(std::string name, std::vector<Expr> args) {
  Expr out;
  out.kind = Expr::Kind::Call;
  out.name = std::move(name);
  out.args = std::move(args);
  return out;
}

Expr variable(const std::string& name) {
  Expr out;
  out.kind = Expr::Kind::Variable;
  out.name = "?" + name;
  return out;
}

Expr extent(const std::string& name, size_t axis) {
  return call("dim", {variable(name), integer(static_cast<int64_t>(axis))});
}

/// A number in each variant.
using Sizes = Ints;

/// The types of a pair's nodes in every variant.
class PairTypes {
 public:
  static std::optional<PairTypes> make(const TermPair& pair, std::span<const PairContext> variants) {
    PairTypes out;
    for (const PairContext& variant : variants) {
      const auto found = evaluate(pair, variant, 1);
      if (!found) return std::nullopt;
      auto& dims = out.dims_.emplace_back();
      for (const TypeId type : found->types) dims.push_back(variant.types.dims(type));
    }
    return out;
  }

  size_t variants() const { return dims_.size(); }
  const Ints& dims(size_t variant, uint32_t node) const { return dims_[variant][node]; }
  size_t rank(uint32_t node) const { return dims_[0][node].size(); }
  Sizes extent(uint32_t node, size_t axis) const {
    Sizes out;
    for (const auto& dims : dims_) out.push_back(dims[node][axis]);
    return out;
  }

 private:
  std::vector<std::vector<Ints>> dims_;  // by variant and node
};

/// Facts about the operands of one node in one variant.
class NodeFacts : public ValueFacts {
 public:
  explicit NodeFacts(std::vector<TensorType> types) : types_(std::move(types)) {}
  const TensorType& type(ValueId value) const override { return types_[value]; }
  bool is_weight(ValueId) const override { return false; }
  const Tensor* constant(ValueId) const override { return nullptr; }

 private:
  std::vector<TensorType> types_;
};

/// One number of an attribute that differs between variants.
struct SizeUse {
  Sizes sizes;
  std::vector<Expr> candidates;  ///< sums of extents of inputs that are these numbers
};

/// Writes both sides of a pair as terms of the rule language.
class Writer {
 public:
  Writer(const TermPair& pair, std::span<const Universe> universes, const PairTypes& types)
      : pair_(pair), universes_(universes), types_(types) {
    for (uint32_t i = 0; i < pair.nodes.size(); ++i)
      if (pair.nodes[i].kind == PairNode::Kind::Input) inputs_.push_back(i);
  }

  const std::vector<uint32_t>& inputs() const { return inputs_; }
  std::string name(uint32_t node) const {
    const auto at = std::ranges::find(inputs_, node) - inputs_.begin();
    return std::string(1, static_cast<char>('a' + at));
  }

  /// The term of a node. `choice` tells which candidate to take for each size, in order of writing; sizes met are
  /// appended to `uses`. Nothing when a size is no sum of extents.
  std::optional<Term> term(uint32_t i, std::span<const size_t> choice, std::vector<SizeUse>& uses) const {
    const PairNode& node = pair_.nodes[i];
    if (node.kind == PairNode::Kind::Input) {
      Term out;
      out.name = name(i);
      return out;
    }
    const auto a = term(node.a, choice, uses);
    if (!a) return std::nullopt;
    std::optional<Term> b;
    if (node.b != PairNode::kNone && !(b = term(node.b, choice, uses))) return std::nullopt;
    return applied(i, universes_[0].ops[node.op].results[node.result], *a, b ? &*b : nullptr, choice, uses);
  }

 private:
  const UniverseOp& op(size_t variant, const PairNode& node) const { return universes_[variant].ops[node.op]; }

  std::optional<Term> applied(uint32_t i, Term form, const Term& a, const Term* b, std::span<const size_t> choice,
                              std::vector<SizeUse>& uses, const std::vector<size_t>& path = {}) const {
    const PairNode& node = pair_.nodes[i];
    if (form.kind == Term::Kind::Value) return b == nullptr || form.name == op(0, node).operands[0] ? a : *b;
    for (size_t k = 0; k < form.attrs.size(); ++k) {
      std::vector<ExprValue> values;
      for (size_t v = 0; v < types_.variants(); ++v) {
        auto value = attribute(i, v, path, k);
        if (!value) return std::nullopt;
        values.push_back(std::move(*value));
      }
      auto expr = general(i, form.attrs[k].second, values, choice, uses);
      if (!expr) return std::nullopt;
      form.attrs[k].second = std::move(*expr);
    }
    for (size_t k = 0; k < form.operands.size(); ++k) {
      std::vector<size_t> inner = path;
      inner.push_back(k);
      auto operand = applied(i, form.operands[k], a, b, choice, uses, inner);
      if (!operand) return std::nullopt;
      form.operands[k] = std::move(*operand);
    }
    return form;
  }

  /// The value of an attribute of the term at `path` of a node's form, in one variant.
  std::optional<ExprValue> attribute(uint32_t i, size_t variant, const std::vector<size_t>& path, size_t k) const {
    const PairNode& node = pair_.nodes[i];
    const UniverseOp& def = op(variant, node);
    const Term* form = &def.results[node.result];
    for (const size_t step : path) form = &form->operands[step];
    std::vector<TensorType> types;
    Binding binding;
    for (const uint32_t operand : {node.a, node.b}) {
      if (operand == PairNode::kNone) continue;
      const Ints& dims = types_.dims(variant, operand);
      binding.values.emplace_back(def.operands[types.size()], static_cast<ValueId>(types.size()));
      types.emplace_back(DType::Double, Shape(dims.begin(), dims.end()));
    }
    const NodeFacts facts(std::move(types));
    auto value = evaluate(form->attrs[k].second, ExprContext{binding, facts});
    return value ? std::optional(std::move(*value)) : std::nullopt;
  }

  /// An expression that has these values; the one that is written where they are all the same.
  std::optional<Expr> general(uint32_t node, const Expr& written, const std::vector<ExprValue>& values,
                              std::span<const size_t> choice, std::vector<SizeUse>& uses) const {
    if (std::holds_alternative<Dim>(values[0])) {
      Sizes sizes;
      for (const ExprValue& value : values) sizes.push_back(std::get<Dim>(value).value());
      return number(node, sizes, choice, uses);
    }
    if (!std::holds_alternative<Dims>(values[0])) return written;
    Expr out;
    out.kind = Expr::Kind::List;
    for (size_t e = 0; e < std::get<Dims>(values[0]).size(); ++e) {
      Sizes sizes;
      for (const ExprValue& value : values) sizes.push_back(std::get<Dims>(value)[e].value());
      auto element = number(node, sizes, choice, uses);
      if (!element) return std::nullopt;
      out.args.push_back(std::move(*element));
    }
    return out;
  }

  std::optional<Expr> number(uint32_t node, const Sizes& sizes, std::span<const size_t> choice,
                             std::vector<SizeUse>& uses) const {
    if (std::ranges::count(sizes, sizes[0]) == static_cast<std::ptrdiff_t>(sizes.size())) return integer(sizes[0]);
    SizeUse use{sizes, candidates(node, sizes)};
    if (use.candidates.empty()) return std::nullopt;
    const size_t picked = uses.size() < choice.size() ? choice[uses.size()] : 0;
    Expr out = use.candidates[std::min(picked, use.candidates.size() - 1)];
    uses.push_back(std::move(use));
    return out;
  }

  /// Extents of inputs with these sizes, then sums of two; those of inputs below the node first.
  std::vector<Expr> candidates(uint32_t node, const Sizes& sizes) const {
    struct Extent {
      uint32_t input;
      size_t axis;
      Sizes sizes;
    };
    const uint32_t root[] = {node};
    const std::vector<bool> below = pair_.needed(root);
    std::vector<Extent> extents;
    for (const bool wanted : {true, false})
      for (const uint32_t input : inputs_)
        for (size_t axis = 0; below[input] == wanted && axis < types_.rank(input); ++axis)
          extents.push_back({input, axis, types_.extent(input, axis)});
    std::vector<Expr> out;
    for (const Extent& each : extents)
      if (each.sizes == sizes) out.push_back(extent(name(each.input), each.axis));
    for (size_t x = 0; x < extents.size(); ++x) {
      for (size_t y = x + 1; y < extents.size(); ++y) {
        Sizes sum = extents[x].sizes;
        for (size_t v = 0; v < sum.size(); ++v) sum[v] += extents[y].sizes[v];
        if (sum == sizes && extents[x].axis == extents[y].axis)
          out.push_back(call(
              "+", {extent(name(extents[x].input), extents[x].axis), extent(name(extents[y].input), extents[y].axis)}));
      }
    }
    return out;
  }

  const TermPair& pair_;
  std::span<const Universe> universes_;
  const PairTypes& types_;
  std::vector<uint32_t> inputs_;
};

/// Steps through the candidates of all sizes, the first one fastest. Returns false after the last combination.
bool next_choice(std::vector<size_t>& choice, const std::vector<SizeUse>& uses) {
  choice.resize(uses.size(), 0);
  for (size_t k = 0; k < choice.size(); ++k) {
    if (++choice[k] < uses[k].candidates.size()) return true;
    choice[k] = 0;
  }
  return false;
}

/// Makes a rule of one direction.
class Attempts {
 public:
  Attempts(const TermPair& pair, const Writer& writer, const PairTypes& types, const ToRuleOptions& options)
      : pair_(pair), writer_(writer), types_(types), options_(options) {}

  /// Of the attempts that hold, the one that applies to most small instances: it asks for least.
  std::optional<DiscoveredRule> run(uint32_t from, uint32_t to) {
    struct Promising {
      Rule rule;
      size_t instances;
    };
    std::vector<Promising> promising;
    std::vector<size_t> choice;
    for (size_t attempt = 0; attempt < options_.attempts; ++attempt) {
      std::vector<SizeUse> uses;
      const auto rule = written(from, to, choice, uses);
      if (!rule) break;
      for (const bool equal : {false, true}) {
        const auto narrowed = with_conditions(*rule, from, equal);
        if (!narrowed) continue;
        const RuleVerdict quick = check_rule(*narrowed, options_.quick);
        if (quick.verdict == Verdict::Refuted) continue;
        promising.push_back({*narrowed, quick.instances});
        break;
      }
      if (!next_choice(choice, uses)) break;
    }
    std::ranges::stable_sort(promising, std::greater<>(), &Promising::instances);
    for (Promising& each : promising) {
      RuleVerdict verdict = check_rule(each.rule, options_.bounds);
      if (verdict.verdict == Verdict::Tested) return DiscoveredRule{std::move(each.rule), std::move(verdict)};
    }
    return std::nullopt;
  }

 private:
  /// Sizes of the source are bound and compared behind `where`, when all inputs are bound.
  std::optional<Rule> written(uint32_t from, uint32_t to, std::span<const size_t> choice,
                              std::vector<SizeUse>& uses) const {
    Rule rule;
    auto source = writer_.term(from, choice, uses);
    if (!source) return std::nullopt;
    bind_sizes(*source, rule.conditions);
    auto target = writer_.term(to, choice, uses);
    if (!target) return std::nullopt;
    rule.sources.push_back(std::move(*source));
    rule.targets.push_back(std::move(*target));
    return rule;
  }

  static void bind_sizes(Term& term, std::vector<Expr>& conditions) {
    for (auto& [name, expr] : term.attrs) {
      if (!reads_extents(expr)) continue;
      const Expr bound = variable(fmt::format("n{}", conditions.size()));
      conditions.push_back(call("==", {bound, std::move(expr)}));
      expr = bound;
    }
    for (Term& operand : term.operands) bind_sizes(operand, conditions);
  }

  static bool reads_extents(const Expr& expr) {
    return expr.name == "dim" || std::ranges::any_of(expr.args, reads_extents);
  }

  /// The rule for reals of the ranks that were enumerated; `equal`: and for equal shapes of interchangeable inputs.
  /// Nothing where there are none.
  std::optional<Rule> with_conditions(Rule rule, uint32_t from, bool equal) const {
    const uint32_t roots[] = {from};
    const std::vector<bool> read = pair_.needed(roots);
    std::vector<uint32_t> inputs;
    for (const uint32_t input : writer_.inputs())
      if (read[input]) inputs.push_back(input);
    std::vector<Expr> conditions;
    conditions.reserve(2 * inputs.size());
    for (const uint32_t input : inputs)
      conditions.push_back(call(
          "==", {call("rank", {variable(writer_.name(input))}), integer(static_cast<int64_t>(types_.rank(input)))}));
    conditions.push_back(call("real", {variable(writer_.name(inputs[0]))}));
    bool found = false;
    for (size_t i = 1; equal && i < inputs.size(); ++i) {
      const auto alike = std::ranges::find_if(inputs, [&](uint32_t input) {
        return input == inputs[i] || pair_.nodes[input].input == pair_.nodes[inputs[i]].input;
      });
      if (*alike == inputs[i]) continue;
      found = true;
      conditions.push_back(call(
          "==", {call("shape", {variable(writer_.name(*alike))}), call("shape", {variable(writer_.name(inputs[i]))})}));
    }
    if (equal && !found) return std::nullopt;
    rule.conditions.insert(rule.conditions.begin(), conditions.begin(), conditions.end());
    rule.name = fmt::format("discovered-{:016x}", rule.hash());
    return rule;
  }

  const TermPair& pair_;
  const Writer& writer_;
  const PairTypes& types_;
  const ToRuleOptions& options_;
};

bool has_constants(const TermPair& pair) {
  return std::ranges::any_of(pair.nodes, [](const PairNode& node) { return node.kind == PairNode::Kind::Constant; });
}

/// Whether all inputs that `to` reads are bound by `from`, an operator.
bool applicable(const TermPair& pair, uint32_t from, uint32_t to) {
  if (pair.nodes[from].kind != PairNode::Kind::Apply) return false;
  const uint32_t source[] = {from};
  const uint32_t target[] = {to};
  const std::vector<bool> bound = pair.needed(source);
  const std::vector<bool> read = pair.needed(target);
  for (uint32_t i = 0; i < pair.nodes.size(); ++i)
    if (pair.nodes[i].kind == PairNode::Kind::Input && read[i] && !bound[i]) return false;
  return true;
}

}  // namespace

std::vector<DiscoveredRule> rules_of(const TermPair& pair, std::span<const Universe> universes,
                                     std::span<const PairContext> variants, const ToRuleOptions& options) {
  std::vector<DiscoveredRule> out;
  const auto types = PairTypes::make(pair, variants);
  if (!types || has_constants(pair)) return out;
  const Writer writer(pair, universes, *types);
  for (const auto& [from, to] : {std::pair(pair.left[0], pair.right[0]), std::pair(pair.right[0], pair.left[0])}) {
    if (!applicable(pair, from, to)) continue;
    if (auto rule = Attempts(pair, writer, *types, options).run(from, to)) out.push_back(std::move(*rule));
  }
  return out;
}

}  // namespace isomer
