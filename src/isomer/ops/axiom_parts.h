#pragma once
// Building blocks of axioms.

#include "isomer/ir/op.h"
#include "isomer/smt/axiom.h"

namespace isomer {

using SymbolicIndex = std::vector<Dim>;
using Elements = std::vector<Element>;

/// One of two extents that are equal in a well-typed node, namely the more specific one.
Dim unified(Scope& scope, const Dim& a, const Dim& b);

/// The extent to which two extents broadcast.
Dim broadcast_extent(Scope& scope, const Dim& a, const Dim& b);
/// The shape to which two shapes broadcast.
std::vector<Dim> broadcast_shape(Scope& scope, const std::vector<Dim>& a, const std::vector<Dim>& b);
/// x, broadcast to a shape.
SymbolicTensor broadcast_to(Scope& scope, const SymbolicTensor& x, const std::vector<Dim>& shape);

/// The tensor of this shape whose element at an index is the element of x at from(index).
SymbolicTensor moved(const SymbolicTensor& x, std::vector<Dim> shape,
                     std::function<SymbolicIndex(const SymbolicIndex&)> from);

/// Sets the result to f of the operands' elements, with broadcasting.
void elementwise(Axiom& axiom, std::function<Element(const Elements&)> f);
/// The same if all operands are real numbers; otherwise f is an unknown function.
void on_reals(Axiom& axiom, std::function<Element(const Elements&)> f);
/// Axioms: the same for a function f(scope, elements) that captures nothing.
template <class F>
AxiomFn elementwise_axiom(F /*f*/) {
  return [](Axiom& axiom) { elementwise(axiom, [scope = &axiom.scope](const Elements& x) { return F()(*scope, x); }); };
}
template <class F>
AxiomFn real_axiom(F /*f*/) {
  return [](Axiom& axiom) { on_reals(axiom, [scope = &axiom.scope](const Elements& x) { return F()(*scope, x); }); };
}

/// Axiom: the operator is an unknown elementwise function.
void function_axiom(Axiom& axiom);
/// Axiom: the same, with boolean results.
void condition_axiom(Axiom& axiom);

/// max(a, b) and min(a, b) of real numbers.
inline Element larger(const Element& a, const Element& b) { return b + relu(a - b); }
inline Element smaller(const Element& a, const Element& b) { return a - relu(a - b); }

/// Whether this is Relu of an element that may be an integer, which the axiom of Relu leaves uninterpreted.
bool is_relu_of_integer(const Element& x);

/// The mean of x over these axes.
Element mean(Scope& scope, const SymbolicTensor& x, const SymbolicIndex& index, const std::vector<size_t>& axes);
/// Σ of f(x) over these axes; the other indices are those of `index`.
Element sum_over(Scope& scope, const std::vector<Dim>& shape, const SymbolicIndex& index,
                 const std::vector<size_t>& axes, const std::function<Element(const SymbolicIndex&)>& body);
/// 1 / (product of the integers).
Element inverse_product(Scope& scope, const std::vector<Dim>& integers);

/// The axes, which must be known, counted from the front.
std::vector<size_t> known_axes(const Axiom& axiom, const std::string& attr, size_t rank);

}  // namespace isomer
