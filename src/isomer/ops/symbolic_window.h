#pragma once
// Sliding windows over unknown extents, for the axioms of convolutions and pools.

#include "isomer/ops/axiom_parts.h"

namespace isomer {

/// A window over the spatial axes of an operand. Position `k` of window `o` is at o stride + k dilation - begin.
struct SymbolicWindow {
  std::vector<Dim> kernel;
  std::vector<Dim> strides;
  std::vector<Dim> dilations;
  std::vector<Dim> begin;
  std::vector<Dim> end;
  std::vector<Dim> input;   ///< extents of the operand
  std::vector<Dim> output;  ///< numbers of windows

  /// The input index at position k of window o.
  SymbolicIndex at(const SymbolicIndex& o, const SymbolicIndex& k) const;
  /// Whether an index is within the operand; and along one axis, within the operand and its pads.
  Formula inside(const SymbolicIndex& index) const;
  Formula inside_pads(size_t axis, const Dim& index) const;
};

/// The window of a node over the operand's axes from 2 on.
SymbolicWindow symbolic_window(Axiom& axiom, std::vector<Dim> kernel);

}  // namespace isomer
