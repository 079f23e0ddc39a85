#include "isomer/ops/axiom_parts.h"

#include <algorithm>

namespace isomer {

Dim unified(Scope& scope, const Dim& a, const Dim& b) {
  scope.agree(equal(a, b));
  return b.is_const() ? b : a;
}

namespace {

/// The extents from which an extent was broadcast; the extent itself if it was not broadcast.
std::vector<Dim> parts_of(const Scope& scope, const Dim& extent) {
  const auto name = extent.symbol_name();
  if (name && name->starts_with("broadcast("))
    if (const auto* parts = scope.arguments_of(*name)) return *parts;
  return {extent};
}

/// The extent to which others broadcast, as one symbol, so that no case distinction by extents of 1 is needed.
Dim broadcast_of(Scope& scope, std::vector<Dim> parts) {
  std::ranges::sort(parts, {}, &Dim::str);
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  std::string name = "broadcast(";
  for (const Dim& part : parts) name += (name.back() == '(' ? "" : ",") + part.str();
  const auto again = [](Scope& in, const std::vector<Dim>& with) {
    Dim out = with[0];
    for (const Dim& extent : with) out = broadcast_extent(in, out, extent);
    return out;
  };
  return scope.define(name + ")", parts, again, [&](const Dim& extent) {
    std::vector<Formula> facts;
    std::vector<Formula> some;
    for (const Dim& part : parts) {
      facts.push_back(equal(part, 1) || equal(part, extent));
      some.push_back(equal(part, extent));
    }
    facts.push_back(any_of(std::move(some)));
    return facts;
  });
}

/// The index along an operand's axis of this extent: 0 if the extent is 1, otherwise the result's index.
Dim spread_index(Scope& scope, const Dim& index, const Dim& extent) {
  if (index.is(0) || extent.is(1)) return 0;
  if (const auto name = index.symbol_name(); name && name->starts_with("spread(")) {
    const auto* of = scope.arguments_of(*name);
    if (of != nullptr && scope.implied(!equal((*of)[1], 1) || equal(extent, 1)))
      return spread_index(scope, Dim((*of)[0]), extent);
  }
  return scope.define(
      "spread(" + index.str() + "," + extent.str() + ")", {index, extent},
      [](Scope& in, const std::vector<Dim>& with) { return spread_index(in, with[0], with[1]); },
      [&](const Dim& at) {
        return std::vector<Formula>{(equal(extent, 1) && equal(at, 0)) || (!equal(extent, 1) && equal(at, index))};
      });
}

}  // namespace

Dim broadcast_extent(Scope& scope, const Dim& a, const Dim& b) {
  if (a == b || b.is(1)) return a;
  if (a.is(1)) return b;
  scope.agree(equal(a, b) || equal(a, 1) || equal(b, 1));
  if (a.is_const() || scope.implied(equal(a, b)) || scope.implied(equal(b, 1))) return a;
  if (b.is_const() || scope.implied(equal(a, 1))) return b;
  std::vector<Dim> parts = parts_of(scope, a);
  const std::vector<Dim> more = parts_of(scope, b);
  parts.insert(parts.end(), more.begin(), more.end());
  return broadcast_of(scope, std::move(parts));
}

std::vector<Dim> broadcast_shape(Scope& scope, const std::vector<Dim>& a, const std::vector<Dim>& b) {
  const auto& longer = a.size() < b.size() ? b : a;
  const auto& shorter = a.size() < b.size() ? a : b;
  std::vector<Dim> shape = longer;
  for (size_t i = 0; i < shorter.size(); ++i) {
    Dim& extent = shape[longer.size() - shorter.size() + i];
    extent = broadcast_extent(scope, extent, shorter[i]);
  }
  return shape;
}

SymbolicTensor broadcast_to(Scope& scope, const SymbolicTensor& x, const std::vector<Dim>& shape) {
  enum class Axis : uint8_t { Whole, Single, Open };
  scope.assume(x.rank() <= shape.size());
  const size_t lead = shape.size() - x.rank();
  std::vector<Axis> axes;
  for (size_t i = 0; i < x.rank(); ++i) {
    const Dim& extent = x.shape[i];
    const Dim& wide = shape[lead + i];
    scope.agree(equal(extent, wide) || equal(extent, 1));
    if (extent == wide || scope.implied(equal(extent, wide)))
      axes.push_back(Axis::Whole);
    else
      axes.push_back(scope.implied(equal(extent, 1)) ? Axis::Single : Axis::Open);
  }
  if (lead == 0 && std::ranges::all_of(axes, [](Axis axis) { return axis == Axis::Whole; })) {
    SymbolicTensor same = x;
    same.shape = shape;
    return same;
  }
  return moved(x, shape, [&scope, axes, lead, extents = x.shape](const SymbolicIndex& index) {
    SymbolicIndex at;
    for (size_t i = 0; i < axes.size(); ++i) {
      const Dim& wide = index[lead + i];
      at.push_back(axes[i] == Axis::Whole    ? wide
                   : axes[i] == Axis::Single ? Dim(0)
                                             : spread_index(scope, wide, extents[i]));
    }
    return at;
  });
}

SymbolicTensor moved(const SymbolicTensor& x, std::vector<Dim> shape,
                     std::function<SymbolicIndex(const SymbolicIndex&)> from) {
  SymbolicTensor out{std::move(shape), nullptr, x.real};
  if (x.integer) out.integer = [at = x.integer, from](const SymbolicIndex& index) { return at(from(index)); };
  out.at = [at = x.at, from = std::move(from)](const SymbolicIndex& index) { return at(from(index)); };
  return out;
}

void elementwise(Axiom& axiom, std::function<Element(const Elements&)> f) {
  std::vector<Dim> shape = axiom.operand(0).shape;
  bool real = true;
  for (const auto& x : axiom.operands) {
    shape = broadcast_shape(axiom.scope, shape, x->shape);
    real = real && x->real;
  }
  std::vector<SymbolicTensor> operands;
  for (const auto& x : axiom.operands) operands.push_back(broadcast_to(axiom.scope, *x, shape));
  const auto at = [operands, f = std::move(f)](const SymbolicIndex& index) {
    Elements elements;
    for (const SymbolicTensor& x : operands) elements.push_back(x.at(index));
    return f(elements);
  };
  axiom.results.push_back({std::move(shape), at, real});
}

void on_reals(Axiom& axiom, std::function<Element(const Elements&)> f) {
  const bool real = std::ranges::all_of(axiom.operands, [](const auto& x) { return x->real; });
  if (real)
    elementwise(axiom, std::move(f));
  else
    function_axiom(axiom);
}

void function_axiom(Axiom& axiom) {
  elementwise(axiom, [name = axiom.name()](const Elements& x) { return function(name, x); });
}

void condition_axiom(Axiom& axiom) {
  function_axiom(axiom);
  axiom.results.back().real = false;
}

Element sum_over(Scope& scope, const std::vector<Dim>& shape, const SymbolicIndex& index,
                 const std::vector<size_t>& axes, const std::function<Element(const SymbolicIndex&)>& body) {
  std::vector<Dim> extents;
  for (const size_t axis : axes) extents.push_back(shape[axis]);
  return scope.sum(extents, [&](const SymbolicIndex& k) {
    SymbolicIndex at = index;
    for (size_t i = 0; i < axes.size(); ++i) at[axes[i]] = k[i];
    return body(at);
  });
}

Element inverse_product(Scope& scope, const std::vector<Dim>& integers) {
  Element out(1);
  for (const Dim& integer : integers) out = scope.times(out, inverse(Element::integer(integer)));
  return out;
}

bool is_relu_of_integer(const Element& x) {
  if (x.products().size() != 1) return false;
  const Product& product = x.products()[0];
  return product.coefficient == 1 && product.bounds.empty() && product.factors.size() == 1 &&
         product.factors[0]->kind == FactorNode::Kind::Function && product.factors[0]->name == "Relu";
}

Element mean(Scope& scope, const SymbolicTensor& x, const SymbolicIndex& index, const std::vector<size_t>& axes) {
  std::vector<Dim> extents;
  extents.reserve(axes.size());
  for (const size_t axis : axes) extents.push_back(x.shape[axis]);
  return scope.times(sum_over(scope, x.shape, index, axes, x.at), inverse_product(scope, extents));
}

std::vector<size_t> known_axes(const Axiom& axiom, const std::string& attr, size_t rank) {
  std::vector<size_t> axes;
  for (const int64_t axis : axiom.known_list(attr)) {
    const int64_t front = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
    axiom.require(front >= 0 && front < static_cast<int64_t>(rank));
    axes.push_back(static_cast<size_t>(front));
  }
  return axes;
}

}  // namespace isomer
