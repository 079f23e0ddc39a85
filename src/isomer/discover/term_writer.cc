#include "isomer/discover/term_writer.h"

#include <algorithm>
#include <cmath>

#include "isomer/discover/build_expr.h"
#include "isomer/ir/builder.h"
#include "isomer/rules/rewrite.h"
#include "isomer/runtime/reference/executor.h"

namespace isomer {
namespace {

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

/// The number that all elements of a term without variables equal, in doubles.
std::optional<double> uniform_number(const Term& term) {
  GraphBuilder builder;
  Rule rule;
  rule.targets = {term};
  const auto values = instantiate_targets(builder, rule, {}, DType::Double);
  if (!values) return std::nullopt;
  const auto run = run_reference(builder.finish(*values), std::span<const Tensor>());
  return run ? uniform_value((*run)[0]) : std::nullopt;
}

}  // namespace

const Expr& SizeChoice::pick(const std::vector<Expr>& candidates) {
  if (met_ == picked_.size()) {
    picked_.push_back(0);
    candidates_.push_back(0);
  }
  candidates_[met_] = candidates.size();
  return candidates[std::min(picked_[met_++], candidates.size() - 1)];
}

bool SizeChoice::next() {
  for (size_t k = 0; k < met_; ++k) {
    if (++picked_[k] < candidates_[k]) return true;
    picked_[k] = 0;
  }
  return false;
}

TermWriter::TermWriter(const TermPair& pair, std::span<const Universe> universes, const PairTypes& types)
    : pair_(pair), universes_(universes), types_(types) {
  for (uint32_t i = 0; i < pair.nodes.size(); ++i)
    if (pair.nodes[i].kind == PairNode::Kind::Input) inputs_.push_back(i);
}

std::string TermWriter::name(uint32_t input) const {
  const auto at = std::ranges::find(inputs_, input) - inputs_.begin();
  return std::string(1, static_cast<char>('a' + at));
}

std::optional<Term> TermWriter::term(uint32_t node, bool source, SizeChoice& sizes) const {
  const PairNode& written = pair_.nodes[node];
  if (written.kind == PairNode::Kind::Constant) return constant(node, source, sizes);
  if (written.kind == PairNode::Kind::Input) {
    Term out;
    out.name = name(node);
    return out;
  }
  const auto a = term(written.a, source, sizes);
  if (!a) return std::nullopt;
  std::optional<Term> b;
  if (written.b != PairNode::kNone && !(b = term(written.b, source, sizes))) return std::nullopt;
  return filled({node, {}}, form(0, written), &*a, b ? &*b : nullptr, sizes);
}

const Term& TermWriter::form(size_t variant, const PairNode& node) const {
  const Universe& universe = universes_[variant];
  return node.kind == PairNode::Kind::Constant ? *universe.inputs[node.op].constant
                                               : universe.ops[node.op].results[node.result];
}

std::optional<Term> TermWriter::constant(uint32_t node, bool source, SizeChoice& sizes) const {
  const Term& written = form(0, pair_.nodes[node]);
  const auto number = source ? uniform_number(written) : std::nullopt;
  if (!number) return filled({node, {}}, written, nullptr, nullptr, sizes);
  // Halves and their like are the same number in the field and in doubles; a ninth is not.
  if (*number * 1024 != std::floor(*number * 1024)) return std::nullopt;
  Term out;
  out.kind = Term::Kind::Literal;
  out.literal = *number;
  return out;
}

/// A form with terms for its variables, and expressions for its sizes.
std::optional<Term> TermWriter::filled(const Site& site, Term form, const Term* a, const Term* b,
                                       SizeChoice& sizes) const {
  if (form.kind == Term::Kind::Value) {
    const auto& operands = universes_[0].ops[pair_.nodes[site.node].op].operands;
    return b == nullptr || form.name == operands[0] ? *a : *b;
  }
  for (size_t k = 0; k < form.attrs.size(); ++k) {
    std::vector<ExprValue> values;
    for (size_t v = 0; v < types_.variants(); ++v) {
      auto value = attribute(site, v, k);
      if (!value) return std::nullopt;
      values.push_back(std::move(*value));
    }
    auto expr = general(site.node, form.attrs[k].second, values, sizes);
    if (!expr) return std::nullopt;
    form.attrs[k].second = std::move(*expr);
  }
  for (size_t k = 0; k < form.operands.size(); ++k) {
    Site inner = site;
    inner.path.push_back(k);
    auto operand = filled(inner, form.operands[k], a, b, sizes);
    if (!operand) return std::nullopt;
    form.operands[k] = std::move(*operand);
  }
  return form;
}

/// The value of an attribute in one variant.
std::optional<ExprValue> TermWriter::attribute(const Site& site, size_t variant, size_t k) const {
  const PairNode& node = pair_.nodes[site.node];
  const Term* inner = &form(variant, node);
  for (const size_t step : site.path) inner = &inner->operands[step];
  std::vector<TensorType> types;
  Binding binding;
  for (const uint32_t operand : {node.a, node.b}) {
    if (operand == PairNode::kNone) continue;
    const Ints& dims = types_.dims(variant, operand);
    const auto& names = universes_[variant].ops[node.op].operands;
    binding.values.emplace_back(names[types.size()], static_cast<ValueId>(types.size()));
    types.emplace_back(DType::Double, Shape(dims.begin(), dims.end()));
  }
  const NodeFacts facts(std::move(types));
  auto value = evaluate(inner->attrs[k].second, ExprContext{binding, facts});
  return value ? std::optional(std::move(*value)) : std::nullopt;
}

/// An expression that has these values; the one that is written where they are all the same.
std::optional<Expr> TermWriter::general(uint32_t node, const Expr& written, const std::vector<ExprValue>& values,
                                        SizeChoice& sizes) const {
  if (std::holds_alternative<Dim>(values[0])) {
    Ints by_variant;
    for (const ExprValue& value : values) by_variant.push_back(std::get<Dim>(value).value());
    return number(node, by_variant, sizes);
  }
  if (!std::holds_alternative<Dims>(values[0])) return written;
  std::vector<Expr> out;
  for (size_t e = 0; e < std::get<Dims>(values[0]).size(); ++e) {
    Ints by_variant;
    for (const ExprValue& value : values) by_variant.push_back(std::get<Dims>(value)[e].value());
    auto element = number(node, by_variant, sizes);
    if (!element) return std::nullopt;
    out.push_back(std::move(*element));
  }
  return list_expr(std::move(out));
}

std::optional<Expr> TermWriter::extent(uint32_t node, size_t axis, uint32_t other, SizeChoice& sizes) const {
  const Ints by_variant = types_.extent(node, axis);
  if (std::ranges::count(by_variant, by_variant[0]) == static_cast<std::ptrdiff_t>(by_variant.size()))
    return integer_expr(by_variant[0]);
  std::vector<Expr> found = candidates(node, by_variant);
  const uint32_t root[] = {other};
  const std::vector<bool> read = pair_.needed(root);
  const auto strangeness = [&](const Expr& candidate) {
    if (candidate.name != "dim") return 3;
    const auto is_read = [&](uint32_t input) { return read[input] && candidate.args[0] == variable_expr(name(input)); };
    const bool shared = std::ranges::any_of(inputs_, is_read);
    return (candidate.args[1].integer == static_cast<int64_t>(axis) ? 0 : 1) + (shared ? 1 : 0);
  };
  std::ranges::stable_sort(found, {}, strangeness);
  return found.empty() ? std::nullopt : std::optional(sizes.pick(found));
}

std::optional<Expr> TermWriter::number(uint32_t node, const Ints& by_variant, SizeChoice& sizes) const {
  if (std::ranges::count(by_variant, by_variant[0]) == static_cast<std::ptrdiff_t>(by_variant.size()))
    return integer_expr(by_variant[0]);
  const std::vector<Expr> found = candidates(node, by_variant);
  return found.empty() ? std::nullopt : std::optional(sizes.pick(found));
}

/// Extents of inputs with these sizes, then sums of two along an axis, then products of neighbours; those of inputs
/// below the node first.
std::vector<Expr> TermWriter::candidates(uint32_t node, const Ints& by_variant) const {
  struct Extent {
    uint32_t input;
    size_t axis;
    Ints sizes;
    Expr expr;
  };
  const uint32_t root[] = {node};
  const std::vector<bool> below = pair_.needed(root);
  std::vector<Extent> extents;
  for (const bool wanted : {true, false})
    for (const uint32_t input : inputs_)
      for (size_t axis = 0; below[input] == wanted && axis < types_.rank(input); ++axis)
        extents.push_back({input, axis, types_.extent(input, axis), dim_expr(name(input), static_cast<int64_t>(axis))});
  std::vector<Expr> out;
  for (const Extent& each : extents)
    if (each.sizes == by_variant) out.push_back(each.expr);
  for (size_t x = 0; x < extents.size(); ++x) {
    for (size_t y = x + 1; y < extents.size(); ++y) {
      Ints sum = extents[x].sizes;
      for (size_t v = 0; v < sum.size(); ++v) sum[v] += extents[y].sizes[v];
      if (sum == by_variant && extents[x].axis == extents[y].axis)
        out.push_back(call_expr("+", {extents[x].expr, extents[y].expr}));
    }
  }
  for (size_t x = 0; x + 1 < extents.size(); ++x) {
    const Extent& next = extents[x + 1];
    Ints product = extents[x].sizes;
    for (size_t v = 0; v < product.size(); ++v) product[v] *= next.sizes[v];
    if (product == by_variant && extents[x].input == next.input)
      out.push_back(call_expr("*", {extents[x].expr, next.expr}));
  }
  return out;
}

}  // namespace isomer
