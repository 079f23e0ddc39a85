#include "isomer/ops/symbolic_window.h"

namespace isomer {
namespace {

/// An attribute with `length` integers, each at least `min`; all equal `min` if the attribute is absent or empty.
std::vector<Dim> list_of(Axiom& axiom, const std::string& name, size_t length, int64_t min) {
  if (!axiom.has(name) || axiom.integers(name).empty()) return std::vector<Dim>(length, Dim(min));
  std::vector<Dim> list = axiom.integers(name);
  axiom.require(list.size() == length);
  for (Dim& entry : list) {
    axiom.scope.assume(at_most(min, entry));
    entry = axiom.scope.canonical(entry);
  }
  return list;
}

/// The number of windows. With `ceil`, the last one may extend past the end, but none starts after the operand.
Dim window_count(Scope& scope, const SymbolicWindow& window, size_t axis, bool ceil) {
  const Dim& stride = window.strides[axis];
  const Dim front = window.input[axis] + window.begin[axis];
  const Dim room = front + window.end[axis] - (window.kernel[axis] - 1) * window.dilations[axis] - 1;
  if (!ceil) return scope.quotient(room, stride) + 1;
  const Dim wanted = scope.quotient(room + stride - 1, stride) + 1;
  const Dim max = scope.quotient(front + stride - 1, stride);
  return scope.decide(at_most(wanted, max)) ? wanted : max;
}

/// Sets the pads and the number of windows of SAME_UPPER or SAME_LOWER along an axis.
void add_same(Scope& scope, SymbolicWindow& window, size_t axis, bool upper) {
  const Dim& stride = window.strides[axis];
  const Dim count = scope.quotient(window.input[axis] + stride - 1, stride);
  const Dim lacking =
      (count - 1) * stride + (window.kernel[axis] - 1) * window.dilations[axis] + 1 - window.input[axis];
  const Dim total = scope.decide(at_most(0, lacking)) ? lacking : Dim(0);
  const Dim half = scope.quotient(total, 2);
  window.begin.push_back(upper ? half : total - half);
  window.end.push_back(total - window.begin.back());
  window.output.push_back(count);
}

}  // namespace

SymbolicIndex SymbolicWindow::at(const SymbolicIndex& o, const SymbolicIndex& k) const {
  SymbolicIndex out;
  for (size_t i = 0; i < kernel.size(); ++i) out.push_back(o[i] * strides[i] + k[i] * dilations[i] - begin[i]);
  return out;
}

Formula SymbolicWindow::inside(const SymbolicIndex& index) const {
  std::vector<Formula> parts;
  for (size_t i = 0; i < index.size(); ++i) parts.push_back(within(0, index[i], input[i]));
  return all_of(std::move(parts));
}

Formula SymbolicWindow::inside_pads(size_t axis, const Dim& index) const {
  return within(Dim(0) - begin[axis], index, input[axis] + end[axis]);
}

SymbolicWindow symbolic_window(Axiom& axiom, std::vector<Dim> kernel) {
  const size_t n = kernel.size();
  const std::vector<Dim>& shape = axiom.operand(0).shape;
  axiom.require(n > 0 && shape.size() == n + 2);
  for (Dim& extent : kernel) {
    axiom.scope.assume(at_most(1, extent));
    extent = axiom.scope.canonical(extent);
  }
  SymbolicWindow window{std::move(kernel),
                        list_of(axiom, "strides", n, 1),
                        list_of(axiom, "dilations", n, 1),
                        {},
                        {},
                        {shape.begin() + 2, shape.end()},
                        {}};
  const std::vector<Dim> pads = list_of(axiom, "pads", 2 * n, 0);
  const std::string mode = axiom.has("auto_pad") ? axiom.text("auto_pad") : "NOTSET";
  if (mode != "NOTSET") {
    for (const Dim& pad : pads) axiom.scope.assume(equal(pad, Dim(0)));
    for (size_t i = 0; i < n; ++i) add_same(axiom.scope, window, i, mode == "SAME_UPPER");
    return window;
  }
  window.begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(n));
  window.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(n), pads.end());
  const bool ceil = axiom.has("ceil_mode") && axiom.known("ceil_mode") != 0;
  for (size_t i = 0; i < n; ++i) {
    window.output.push_back(window_count(axiom.scope, window, i, ceil));
    axiom.scope.assume(at_most(0, window.output[i]));
  }
  return window;
}

}  // namespace isomer
