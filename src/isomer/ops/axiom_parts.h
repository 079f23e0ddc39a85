#pragma once
// What the axioms of several operators are made of.

#include "isomer/smt/axiom.h"

namespace isomer {

using SymbolicIndex = std::vector<Dim>;
using Elements = std::vector<Element>;

/// Extents that are equal in a well-typed node: the one that says more.
Dim unified(Scope& scope, const Dim& a, const Dim& b);

/// The extent that two extents broadcast to.
Dim broadcast_extent(Scope& scope, const Dim& a, const Dim& b);
/// The shape that two shapes broadcast to.
std::vector<Dim> broadcast_shape(Scope& scope, const std::vector<Dim>& a, const std::vector<Dim>& b);
/// x under a shape that it broadcasts to.
SymbolicTensor broadcast_to(Scope& scope, const SymbolicTensor& x, const std::vector<Dim>& shape);

/// The tensor of this shape whose element at an index is that of x at from(index).
SymbolicTensor moved(const SymbolicTensor& x, std::vector<Dim> shape,
                     std::function<SymbolicIndex(const SymbolicIndex&)> from);

/// The result: f of the operands' elements, which broadcast.
void elementwise(Axiom& axiom, std::function<Element(const Elements&)> f);
/// Likewise where all operands are real numbers; elsewhere f is not known.
void on_reals(Axiom& axiom, std::function<Element(const Elements&)> f);
/// Axiom: nothing is known of the operator but that it works element by element.
void function_axiom(Axiom& axiom);
/// Axiom: likewise, and the results are booleans.
void condition_axiom(Axiom& axiom);

/// max(a, b) and min(a, b) of real numbers.
inline Element larger(const Element& a, const Element& b) { return b + relu(a - b); }
inline Element smaller(const Element& a, const Element& b) { return a - relu(a - b); }

/// x as a sum over these axes divided by the product of their extents.
Element mean(Scope& scope, const SymbolicTensor& x, const SymbolicIndex& index, const std::vector<size_t>& axes);
/// Σ of f(x) over these axes, the other indices being those of `index`.
Element sum_over(Scope& scope, const std::vector<Dim>& shape, const SymbolicIndex& index,
                 const std::vector<size_t>& axes, const std::function<Element(const SymbolicIndex&)>& body);
/// 1 / Π of integers.
Element inverse_product(Scope& scope, const std::vector<Dim>& integers);

/// Axes, which must be known, counted from the front.
std::vector<size_t> known_axes(const Axiom& axiom, const std::string& attr, size_t rank);

}  // namespace isomer
