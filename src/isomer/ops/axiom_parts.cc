#include "isomer/ops/axiom_parts.h"

#include <algorithm>

namespace isomer {

Dim unified(Scope& scope, const Dim& a, const Dim& b) {
  scope.assume(equal(a, b));
  return b.is_const() ? b : a;
}

std::vector<Dim> broadcast_shape(Scope& scope, const std::vector<Dim>& a, const std::vector<Dim>& b) {
  const auto& longer = a.size() < b.size() ? b : a;
  const auto& shorter = a.size() < b.size() ? a : b;
  std::vector<Dim> shape = longer;
  for (size_t i = 0; i < shorter.size(); ++i) {
    Dim& extent = shape[longer.size() - shorter.size() + i];
    const Dim& other = shorter[i];
    if (extent == other || other.is(1)) continue;
    if (extent.is(1)) {
      extent = other;
    } else if (scope.decide(equal(extent, other))) {
      extent = unified(scope, extent, other);
    } else if (scope.decide(equal(extent, 1))) {
      extent = other;
    } else {
      scope.assume(equal(other, 1));
    }
  }
  return shape;
}

SymbolicTensor broadcast_to(Scope& scope, const SymbolicTensor& x, const std::vector<Dim>& shape) {
  const size_t lead = shape.size() - x.rank();
  std::vector<bool> spread(x.rank());
  bool all = lead == 0;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (x.shape[i] == shape[lead + i]) continue;
    spread[i] = x.shape[i].is(1) || !scope.decide(equal(x.shape[i], shape[lead + i]));
    if (spread[i]) scope.assume(equal(x.shape[i], 1));
    all = all && !spread[i];
  }
  if (all) {
    SymbolicTensor same = x;
    same.shape = shape;
    return same;
  }
  return moved(x, shape, [=](const SymbolicIndex& index) {
    SymbolicIndex at;
    for (size_t i = 0; i < spread.size(); ++i) at.push_back(spread[i] ? Dim(0) : index[lead + i]);
    return at;
  });
}

SymbolicTensor moved(const SymbolicTensor& x, std::vector<Dim> shape,
                     std::function<SymbolicIndex(const SymbolicIndex&)> from) {
  SymbolicTensor out{std::move(shape), [at = x.at, from](const SymbolicIndex& index) { return at(from(index)); },
                     x.real};
  if (x.integer) out.integer = [at = x.integer, from](const SymbolicIndex& index) { return at(from(index)); };
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

Element mean(Scope& scope, const SymbolicTensor& x, const SymbolicIndex& index, const std::vector<size_t>& axes) {
  std::vector<Dim> extents;
  for (const size_t axis : axes) extents.push_back(x.shape[axis]);
  return scope.times(sum_over(scope, x.shape, index, axes, x.at), inverse_product(scope, extents));
}

std::vector<size_t> known_axes(const Axiom& axiom, const std::string& attr, size_t rank) {
  std::vector<size_t> axes;
  for (const int64_t axis : axiom.known_list(attr)) {
    const int64_t front = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
    if (front < 0 || front >= static_cast<int64_t>(rank)) throw GaveUp{axiom.op + ": an axis out of range"};
    axes.push_back(static_cast<size_t>(front));
  }
  return axes;
}

}  // namespace isomer
