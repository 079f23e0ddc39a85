#include "isomer/discover/term_writer.h"

#include <algorithm>
#include <cmath>

#include "isomer/eval/executor.h"
#include "isomer/ir/builder.h"
#include "isomer/ops/registry.h"
#include "isomer/rules/build.h"
#include "isomer/rules/instantiate.h"

namespace isomer {
namespace {

/// Returns the number that all elements of a term without variables equal, in double precision.
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

TermWriter::TermWriter(const TermPair& pair, std::span<const Universe> universes, const PairDims& dims)
    : pair_(pair), universes_(universes), dims_(dims) {
  for (uint32_t i = 0; i < pair.nodes.size(); ++i) {
    if (pair.nodes[i].kind != PairNode::Kind::Input) continue;
    const auto bundle = bundle_of(i);
    if (!bundle) variables_.push_back({i, std::nullopt});
    for (size_t k = 0; bundle && k < universes[0].bundles[*bundle].parts.size(); ++k)
      variables_.push_back({i, PartId{*bundle, k}});
  }
}

/// Returns the bundle that a value is, recognized by its number of columns.
std::optional<size_t> TermWriter::bundle_of(uint32_t node) const {
  const Ints& dims = dims_[0][node];
  const auto& bundles = universes_[0].bundles;
  const auto found = std::ranges::find_if(
      bundles, [&](const Bundle& bundle) { return dims.size() == 2 && dims[1] == bundle.columns(); });
  return found == bundles.end() ? std::nullopt : std::optional(static_cast<size_t>(found - bundles.begin()));
}

std::optional<Term> TermWriter::variable(uint32_t node, std::optional<PartId> part) const {
  const auto found =
      std::ranges::find_if(variables_, [&](const Variable& each) { return each.node == node && each.part == part; });
  if (found == variables_.end()) return std::nullopt;
  return variable_term(name(static_cast<size_t>(found - variables_.begin())));
}

size_t TermWriter::rank(const Variable& variable) const {
  if (!variable.part) return dims_[0][variable.node].size();
  return universes_[0].bundles[variable.part->bundle].parts[variable.part->part].dims.size();
}

Ints TermWriter::extents_by_variant(uint32_t node, size_t axis) const {
  Ints out;
  for (const auto& dims : dims_) out.push_back(dims[node][axis]);
  return out;
}

Ints TermWriter::extents_by_variant(const Variable& variable, size_t axis) const {
  if (!variable.part || axis == 0) return extents_by_variant(variable.node, axis);
  Ints out;
  for (const Universe& universe : universes_)
    out.push_back(universe.bundles[variable.part->bundle].parts[variable.part->part].dims[axis]);
  return out;
}

std::optional<Term> TermWriter::term(uint32_t node, bool source, SizeChoice& sizes) const {
  const PairNode& written = pair_.nodes[node];
  if (written.kind == PairNode::Kind::Constant) return constant(node, source, sizes);
  if (written.kind == PairNode::Kind::Input) return variable(node, std::nullopt);
  return this->written({node}, source, sizes);
}

/// Writes the operator of a node, or the term for a part of its result.
std::optional<Term> TermWriter::written(const Site& site, bool source, SizeChoice& sizes) const {
  const PairNode& node = pair_.nodes[site.node];
  Operands operands;
  for (const uint32_t operand : {node.a, node.b}) {
    if (operand == PairNode::kNone) continue;
    operands.emplace_back();
    if (bundle_of(operand)) continue;
    if (!(operands.back() = term(operand, source, sizes))) return std::nullopt;
  }
  return filled(site, form(0, site), operands, source, sizes);
}

const Term& TermWriter::form(size_t variant, const Site& site) const {
  const PairNode& node = pair_.nodes[site.node];
  const Universe& universe = universes_[variant];
  if (node.kind == PairNode::Kind::Constant) return *universe.inputs[node.op].constant;
  const UniverseOp& op = universe.ops[node.op];
  return site.part && !op.parts.empty() ? op.parts[site.part->part] : op.results[node.result];
}

std::optional<Term> TermWriter::constant(uint32_t node, bool source, SizeChoice& sizes) const {
  const Term& written = form(0, {node});
  const auto number = source ? uniform_number(written) : std::nullopt;
  if (!number) return filled({node}, written, {}, source, sizes);
  // Halves, quarters and so on are the same number in the field and in double precision; a ninth is not.
  if (*number * 1024 != std::floor(*number * 1024)) return std::nullopt;
  Term out;
  out.kind = Term::Kind::Literal;
  out.literal = *number;
  return out;
}

/// Writes the part that a form takes out of an operand that is a bundle: an input, or the part that the operand
/// computes. An operator on whole bundles (such as a concatenation of them) becomes the same operator on the parts; the
/// checker decides whether that is valid.
std::optional<Term> TermWriter::part_of_operand(const Site& site, const Term& form, PartId part, bool source,
                                                SizeChoice& sizes) const {
  const PairNode& node = pair_.nodes[site.node];
  const std::string& name = form.operands[0].operands[0].name;
  const uint32_t operand = name == universes_[0].ops[node.op].operands[0] ? node.a : node.b;
  if (pair_.nodes[operand].kind == PairNode::Kind::Input) return variable(operand, part);
  if (pair_.nodes[operand].kind != PairNode::Kind::Apply) return std::nullopt;
  return written({operand, part}, source, sizes);
}

/// Writes a form with terms for its variables, and expressions for its sizes.
std::optional<Term> TermWriter::filled(const Site& site, Term form, const Operands& operands, bool source,
                                       SizeChoice& sizes) const {
  const PairNode& node = pair_.nodes[site.node];
  if (form.kind == Term::Kind::Value) {
    const size_t place = form.name == universes_[0].ops[node.op].operands[0] ? 0 : 1;
    if (operands[place] || !site.part) return operands[place];
    const uint32_t operand = place == 0 ? node.a : node.b;
    if (pair_.nodes[operand].kind == PairNode::Kind::Input) return variable(operand, site.part);
    return written({operand, site.part}, source, sizes);
  }
  if (const auto part = part_taken(universes_[0], form)) return part_of_operand(site, form, *part, source, sizes);
  for (size_t k = 0; k < form.attrs.size(); ++k) {
    std::vector<ExprValue> values;
    for (size_t v = 0; v < dims_.size(); ++v) {
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
    auto operand = filled(inner, form.operands[k], operands, source, sizes);
    if (!operand) return std::nullopt;
    form.operands[k] = std::move(*operand);
  }
  // In a source, an operator may be such an Expand; within a constant, both sides must write it in the same way.
  const bool uniform =
      form.kind == Term::Kind::Apply && form.op->name == "Expand" && form.operands[0].kind == Term::Kind::Literal;
  if (!uniform || (source && node.kind != PairNode::Kind::Constant)) return form;
  Expr number;
  number.kind = Expr::Kind::Real;
  number.real = form.operands[0].literal;
  form.op = &op("ConstantOfShape");
  form.attrs.emplace_back("value", std::move(number));
  form.operands.clear();
  return form;
}

/// Returns the value of an attribute in one variant.
std::optional<ExprValue> TermWriter::attribute(const Site& site, size_t variant, size_t k) const {
  const PairNode& node = pair_.nodes[site.node];
  const Term* inner = &form(variant, site);
  for (const size_t step : site.path) inner = &inner->operands[step];
  std::vector<Ints> dims;
  Binding binding;
  for (const uint32_t operand : {node.a, node.b}) {
    if (operand == PairNode::kNone) continue;
    const auto& names = universes_[variant].ops[node.op].operands;
    binding.values.emplace_back(names[dims.size()], static_cast<ValueId>(dims.size()));
    dims.push_back(dims_[variant][operand]);
  }
  const OperandFacts facts(dims);
  auto value = evaluate(inner->attrs[k].second, ExprContext{binding, facts});
  return value ? std::optional(std::move(*value)) : std::nullopt;
}

/// Returns an expression that has these values; the written one if they are all the same.
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
  const Ints by_variant = extents_by_variant(node, axis);
  if (std::ranges::count(by_variant, by_variant[0]) == static_cast<std::ptrdiff_t>(by_variant.size()))
    return integer_expr(by_variant[0]);
  std::vector<Expr> found = candidates(node, by_variant);
  const uint32_t root[] = {other};
  const std::vector<bool> read = pair_.needed(root);
  const auto strangeness = [&](const Expr& candidate) {
    if (candidate.name != "dim") return 3;
    bool shared = false;
    for (size_t i = 0; i < variables_.size(); ++i)
      shared = shared || (read[variables_[i].node] && candidate.args[0] == variable_expr(name(i)));
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

/// Returns extents of inputs with these sizes, then sums of two along an axis, then products of adjacent extents; those
/// of inputs below the node come first. If there are none: halves of extents.
std::vector<Expr> TermWriter::candidates(uint32_t node, const Ints& by_variant) const {
  struct Extent {
    size_t input;
    size_t axis;
    Ints sizes;
    Expr expr;
  };
  const uint32_t root[] = {node};
  const std::vector<bool> below = pair_.needed(root);
  std::vector<Extent> extents;
  for (const bool wanted : {true, false})
    for (size_t i = 0; i < variables_.size(); ++i)
      for (size_t axis = 0; below[variables_[i].node] == wanted && axis < rank(variables_[i]); ++axis)
        extents.push_back(
            {i, axis, extents_by_variant(variables_[i], axis), dim_expr(name(i), static_cast<int64_t>(axis))});
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
  if (!out.empty()) return out;
  for (const Extent& each : extents) {
    Ints twice = by_variant;
    for (int64_t& size : twice) size *= 2;
    if (each.sizes == twice) out.push_back(call_expr("/", {each.expr, integer_expr(2)}));
  }
  return out;
}

}  // namespace isomer
