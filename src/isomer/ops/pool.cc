// Pools over sliding windows. Positions outside the operand never affect a maximum; count_include_pad decides whether
// they count in an average.

#include <algorithm>

#include "isomer/ops/accumulate.h"
#include "isomer/ops/domain.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/registry.h"
#include "isomer/ops/symbolic_window.h"
#include "isomer/ops/window.h"
#include "isomer/ops/window_gradient.h"

namespace isomer {
namespace {

Result<std::vector<TensorType>> infer_pool(const OpView& view) {
  const Ints& kernel = view.attrs.ints("kernel_shape");
  if (kernel.empty() || view.rank(0) != kernel.size() + 2)
    return fail("{} with a kernel of {} axes over {}", view.op.name, kernel.size(), view.type(0).str());
  ISOMER_TRY(const Window window, read_window(view.attrs, kernel));
  Shape shape{view.shape(0)[0], view.shape(0)[1]};
  for (size_t i = 0; i < window.rank(); ++i) {
    ISOMER_TRY(Dim extent, window_count(window, i, view.shape(0)[2 + i]));
    shape.push_back(std::move(extent));
  }
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

Result<std::vector<TensorType>> infer_max_pool(const OpView& view) {
  ISOMER_TRY(auto types, infer_pool(view));
  if (view.num_results > 1) types.push_back({DType::Int64, *types[0].shape});
  return types;
}

Result<std::vector<TensorType>> infer_lp_pool(const OpView& view) {
  if (view.attrs.integer("p") < 1) return fail("{} of p = {}", view.op.name, view.attrs.integer("p"));
  return infer_pool(view);
}

/// One operation per element of each window.
double flops_pool(const WorkView& view) { return count(view.results[0]) * count(view.attrs.ints("kernel_shape")); }

Result<Window3> pool_window(const KernelContext& context) {
  ISOMER_TRY(const Window window, read_window(context.attrs, context.attrs.ints("kernel_shape")));
  return window3(window, context.operands[0].dims(), *concrete(*context.types[0].shape));
}

/// Calls visit(output position) for each window, and `see(z, y, x)` there for each input position that it covers.
template <class Visit>
void for_each_window(const Window3& w, Visit visit) {
  Window3::Triple o;
  for (o[0] = 0; o[0] < w.output[0]; ++o[0])
    for (o[1] = 0; o[1] < w.output[1]; ++o[1])
      for (o[2] = 0; o[2] < w.output[2]; ++o[2]) visit(o);
}
template <class See>
void for_each_seen(const Window3& w, const Window3::Triple& o, See see) {
  const auto [z0, z1] = w.positions_at(0, o[0]);
  const auto [y0, y1] = w.positions_at(1, o[1]);
  const auto [x0, x1] = w.positions_at(2, o[2]);
  for (int64_t z = z0; z < z1; ++z)
    for (int64_t y = y0; y < y1; ++y)
      for (int64_t x = x0; x < x1; ++x) see(w.at(0, o[0], z), w.at(1, o[1], y), w.at(2, o[2], x));
}

/// Number of planes (batch times channels) of an operand.
int64_t planes(const Tensor& x) { return x.dims()[0] * x.dims()[1]; }

template <class T>
void max_pool(const Window3& w, const Tensor& x, bool column_major, std::span<T> y, std::span<int64_t> indices) {
  size_t n = 0;
  for (int64_t p = 0; p < planes(x); ++p) {
    const T* plane = x.data<T>().data() + p * w.input_size();
    for_each_window(w, [&](const Window3::Triple& o) {
      T best = lattice_bottom<T>();
      int64_t at = -1;
      for_each_seen(w, o, [&](int64_t iz, int64_t iy, int64_t ix) {
        const T value = plane[(iz * w.input[1] + iy) * w.input[2] + ix];
        const T larger = lattice_max(best, value);
        if (at < 0 || !(larger == best))
          at = column_major ? iz + w.input[0] * (iy + w.input[1] * ix) : (iz * w.input[1] + iy) * w.input[2] + ix;
        best = larger;
      });
      y[n] = best;
      if (!indices.empty()) indices[n] = p * w.input_size() + at;
      ++n;
    });
  }
}

Status max_pool_kernel(KernelContext& context) {
  ISOMER_TRY(const Window3 w, pool_window(context));
  return for_numeric(context.operands[0].dtype(), [&]<class T>() {
    new_result(context);
    if (context.types.size() > 1) new_result(context);
    const auto indices = context.types.size() > 1 ? context.results[1].mutable_data<int64_t>() : std::span<int64_t>();
    max_pool<T>(w, context.operands[0], context.attrs.integer("storage_order") != 0,
                context.results[0].mutable_data<T>(), indices);
  });
}

/// The number of window positions along an axis that are inside the operand or, with `pads`, inside its pads.
int64_t counted(const Window3& w, size_t axis, int64_t o, bool pads) {
  const auto [low, high] = w.positions_at(axis, o);
  if (!pads) return high - low;
  const int64_t room = w.begin[axis] + w.input[axis] + w.end[axis] - o * w.stride[axis];
  return std::clamp<int64_t>((room + w.dilation[axis] - 1) / w.dilation[axis], 0, w.kernel[axis]);
}

/// Sums term(x) over each window. The result is finish(sum, output position).
template <class Term, class Finish>
Status sum_windows(KernelContext& context, const Window3& w, Term term, Finish finish) {
  return for_real(context.operands[0].dtype(), [&]<class T>() {
    using Sum = Accumulator<T>;
    const Tensor& x = context.operands[0];
    T* y = new_result(context).mutable_data<T>().data();
    for (int64_t p = 0; p < planes(x); ++p) {
      const T* plane = x.data<T>().data() + p * w.input_size();
      for_each_window(w, [&](const Window3::Triple& o) {
        Sum sum(0);
        for_each_seen(w, o, [&](int64_t iz, int64_t iy, int64_t ix) {
          sum += term(static_cast<Sum>(plane[(iz * w.input[1] + iy) * w.input[2] + ix]));
        });
        *y++ = static_cast<T>(finish(sum, o));
      });
    }
  });
}

Status average_pool_kernel(KernelContext& context) {
  ISOMER_TRY(const Window3 w, pool_window(context));
  const bool pads = context.attrs.integer("count_include_pad") != 0;
  return sum_windows(
      context, w, [](auto x) { return x; },
      [&]<class Sum>(Sum sum, const Window3::Triple& o) {
        const int64_t n = counted(w, 0, o[0], pads) * counted(w, 1, o[1], pads) * counted(w, 2, o[2], pads);
        return n == 0 ? Sum(0) : sum / from_count<Sum>(n);
      });
}

/// (sum of |x|^p)^(1/p) over `values` terms already summed.
template <class Sum>
Sum lp_root(Sum sum, int64_t p) {
  if (p == 1) return sum;
  if (p == 2) return scalar_sqrt(sum);
  if constexpr (std::is_same_v<Sum, Fp>)
    return uninterpreted("Pow", sum, Fp(1) / Fp(p));
  else
    return std::pow(sum, 1 / static_cast<Sum>(p));
}
template <class Sum>
Sum lp_power(Sum x, int64_t p) {
  if (p == 1) return scalar_abs(x);
  if (p == 2) return x * x;
  if constexpr (std::is_same_v<Sum, Fp>)
    return scalar_abs(x).power(static_cast<uint64_t>(p));
  else
    return std::pow(std::abs(x), static_cast<Sum>(p));
}

Status lp_pool_kernel(KernelContext& context) {
  ISOMER_TRY(const Window3 w, pool_window(context));
  const int64_t order = context.attrs.integer("p");
  return sum_windows(
      context, w, [&](auto x) { return lp_power(x, order); },
      [&](auto sum, const Window3::Triple&) { return lp_root(sum, order); });
}

std::vector<Dim> pooled_shape(const SymbolicTensor& x, const SymbolicWindow& window) {
  std::vector<Dim> shape{x.shape[0], x.shape[1]};
  shape.insert(shape.end(), window.output.begin(), window.output.end());
  return shape;
}

/// The index of the operand for an index of the result and spatial indices.
SymbolicIndex with_spatial(const SymbolicIndex& index, const SymbolicIndex& spatial) {
  SymbolicIndex out{index[0], index[1]};
  out.insert(out.end(), spatial.begin(), spatial.end());
  return out;
}

/// The maximum over the window.
void max_pool_axiom(Axiom& axiom) {
  if (axiom.num_results > 1) throw GaveUp{"positions of maxima"};
  const SymbolicTensor& x = axiom.operand(0);
  const SymbolicWindow window = symbolic_window(axiom, axiom.integers("kernel_shape"));
  const auto at = [&scope = axiom.scope, x, window](const SymbolicIndex& index) {
    return scope.extreme("max", window.kernel, [&](const SymbolicIndex& k) -> std::optional<Element> {
      const SymbolicIndex seen = window.at({index.begin() + 2, index.end()}, k);
      if (!scope.decide(window.inside(seen))) return std::nullopt;
      return x.at(with_spatial(index, seen));
    });
  };
  axiom.results.push_back({pooled_shape(x, window), at, x.real});
}

/// The number of positions along an axis that window o sees of the operand or, with `pads`, of it and its pads.
Element counted(Scope& scope, const SymbolicWindow& window, size_t axis, const Dim& o, bool pads) {
  const auto inside = [&](const Dim& k) {
    const Dim at = o * window.strides[axis] + k * window.dilations[axis] - window.begin[axis];
    return pads ? window.inside_pads(axis, at) : within(0, at, window.input[axis]);
  };
  if (scope.implied(inside(0) && inside(window.kernel[axis] - 1))) return Element::integer(window.kernel[axis]);
  return scope.sum({window.kernel[axis]},
                   [&](const SymbolicIndex& k) { return Element(scope.decide(inside(k[0])) ? 1 : 0); });
}

/// The sum over the window, divided by the number of positions that count.
void average_pool_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  const SymbolicWindow window = symbolic_window(axiom, axiom.integers("kernel_shape"));
  const bool pads = axiom.known("count_include_pad") != 0;
  const bool whole = pads && axiom.known("ceil_mode") == 0;  // no window extends past the end
  const auto at = [&scope = axiom.scope, x, window, pads, whole](const SymbolicIndex& index) {
    const SymbolicIndex o(index.begin() + 2, index.end());
    Element out = scope.sum(window.kernel, [&](const SymbolicIndex& k) {
      const SymbolicIndex seen = window.at(o, k);
      return scope.decide(window.inside(seen)) ? x.at(with_spatial(index, seen)) : Element(0);
    });
    for (size_t i = 0; i < o.size(); ++i) {
      const Element n = whole ? Element::integer(window.kernel[i]) : counted(scope, window, i, o[i], pads);
      out = scope.times(out, inverse(n));
    }
    return out;
  };
  axiom.results.push_back({pooled_shape(x, window), at, x.real});
}

/// The axes from 2 on.
std::vector<size_t> spatial_axes(const SymbolicTensor& x) {
  std::vector<size_t> axes;
  for (size_t i = 2; i < x.rank(); ++i) axes.push_back(i);
  return axes;
}
std::vector<Dim> one_of_each_plane(const SymbolicTensor& x) {
  std::vector<Dim> shape = x.shape;
  std::fill(shape.begin() + 2, shape.end(), Dim(1));
  return shape;
}

void global_average_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  axiom.require(x.rank() >= 2);
  const auto at = [&scope = axiom.scope, x](const SymbolicIndex& index) {
    return mean(scope, x, index, spatial_axes(x));
  };
  axiom.results.push_back({one_of_each_plane(x), at, x.real});
}

void global_max_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  axiom.require(x.rank() >= 2);
  const auto at = [&scope = axiom.scope, x](const SymbolicIndex& index) {
    return scope.extreme("max", {x.shape.begin() + 2, x.shape.end()},
                         [&](const SymbolicIndex& k) { return std::optional(x.at(with_spatial(index, k))); });
  };
  axiom.results.push_back({one_of_each_plane(x), at, x.real});
}

Result<std::vector<TensorType>> infer_global(const OpView& view) {
  if (view.rank(0) < 2) return fail("{} needs a rank of at least 2, got {}", view.op.name, view.type(0).str());
  if (view.attrs.has("p") && view.attrs.integer("p") < 1) return fail("{} of p < 1", view.op.name);
  Shape shape = view.shape(0);
  std::fill(shape.begin() + 2, shape.end(), Dim(1));
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

double flops_global(const WorkView& view) { return count(view.operands[0]); }

/// y = finish(fold of all elements of a plane, number of elements).
template <class T, class Sum, class Step, class Finish>
void global_pool(KernelContext& context, Sum start, Step step, Finish finish) {
  const auto x = context.operands[0].data<T>();
  const auto y = new_result(context).mutable_data<T>();
  const size_t size = y.empty() ? 0 : x.size() / y.size();
  for (size_t p = 0; p < y.size(); ++p) {
    Sum sum = start;
    for (size_t i = p * size; i < (p + 1) * size; ++i) sum = step(sum, static_cast<Sum>(x[i]));
    y[p] = static_cast<T>(finish(sum, from_count<Sum>(static_cast<int64_t>(size))));
  }
}

Status global_average_kernel(KernelContext& context) {
  return for_real(context.operands[0].dtype(), [&]<class T>() {
    using Sum = Accumulator<T>;
    global_pool<T, Sum>(
        context, Sum(0), [](Sum a, Sum b) { return a + b; }, [](Sum s, Sum n) { return s / n; });
  });
}

Status global_max_kernel(KernelContext& context) {
  return for_real(context.operands[0].dtype(), [&]<class T>() {
    global_pool<T, T>(context, lattice_bottom<T>(), lattice_max<T>, [](T s, T) { return s; });
  });
}

Status global_lp_kernel(KernelContext& context) {
  const int64_t p = context.attrs.integer("p");
  return for_real(context.operands[0].dtype(), [&]<class T>() {
    using Sum = Accumulator<T>;
    global_pool<T, Sum>(
        context, Sum(0), [p](Sum a, Sum b) { return a + lp_power<Sum>(b, p); },
        [p](Sum s, Sum) { return lp_root<Sum>(s, p); });
  });
}

/// The number of elements that count in each window, as a divisor of the result.
GraphValue window_counts(Backward& node, const Window& window) {
  std::vector<int64_t> input{1, 1};
  std::vector<int64_t> output{1, 1};
  for (size_t i = 2; i < node.result().rank(); ++i) {
    input.push_back(known_extent(node.operand(0), i));
    output.push_back(known_extent(node.result(), i));
  }
  const auto w = window3(window, input, output);
  if (!w) node.refuse(w.error().message);
  const bool pads = node.attrs().integer("count_include_pad") != 0;
  Tensor counts = Tensor::zeros(DType::Double, output);
  double* next = counts.mutable_data<double>().data();
  for_each_window(*w, [&](const Window3::Triple& o) {
    const int64_t n = counted(*w, 0, o[0], pads) * counted(*w, 1, o[1], pads) * counted(*w, 2, o[2], pads);
    *next++ = static_cast<double>(std::max<int64_t>(n, 1));
  });
  return converted(node.constant(counts), node.result().dtype());
}

/// Each element receives its share of the gradients of the windows that see it: the adjoint of a convolution of each
/// channel with ones.
void average_pool_gradient(Backward& node) {
  const GraphValue x = node.operand(0);
  const Window window = known_window(x, node.attrs(), node.attrs().ints("kernel_shape"));
  const int64_t channels = known_extent(x, 1);
  Shape ones{Dim(channels), Dim(1)};
  ones.insert(ones.end(), window.kernel.begin(), window.kernel.end());
  const GraphValue filters = expanded(number(x, 1), ones);
  GraphValue g = node.gradient();
  // Type inference of older opsets counts windows that begin in the pads, which results do not have.
  for (size_t i = 2; window.ceil && i < g.rank(); ++i) g = sliced(g, i, 0, known_extent(node.result(), i));
  const GraphValue share = g / window_counts(node, window);
  node.give(0, image_gradient(share, filters, x.shape(), window, channels));
}

/// Adds the gradients to the elements at the positions of the maxima.
void max_pool_gradient(Backward& node) {
  if (!node.has_gradient(0)) return;
  const GraphValue x = node.operand(0);
  const GraphValue positions = node.call_all("MaxPool", node.attrs().with("storage_order", int64_t{0}), {x}, 2)[1];
  const auto flat = [](const GraphValue& term) { return reshaped(term, {element_count(term.shape())}); };
  const GraphValue sums =
      node.call("ScatterElements", {{"axis", int64_t{0}}, {"reduction", std::string("add")}},
                {zeros(node, {x.dtype(), {element_count(x.shape())}}), flat(positions), flat(node.gradient())});
  node.give(0, reshaped(sums, x.shape()));
}

void global_average_gradient(Backward& node) {
  const GraphValue x = node.operand(0);
  node.give(0, expanded(node.gradient() / element_count(x, axis_range(2, x.rank())), x.shape()));
}
void global_max_gradient(Backward& node) {
  const GraphValue x = node.operand(0);
  node.give(0, shared_by_equals(x, node.result(), node.gradient(), axis_range(2, x.rank())));
}

/// SAME pads for which engines deviate from the standard: the standard counts the dilated window, engines only the
/// kernel. Also, some engines shift windows that are smaller than their stride, where a pad would be negative.
bool is_disputed(const OnnxForm& form, const Ints& kernel) {
  const auto* auto_pad = form.get<std::string>("auto_pad");
  if (auto_pad == nullptr || !auto_pad->starts_with("SAME")) return false;
  const Ints* dilations = form.get<Ints>("dilations");
  if (dilations != nullptr && std::any_of(dilations->begin(), dilations->end(), [](int64_t d) { return d != 1; }))
    return true;
  const Ints* strides = form.get<Ints>("strides");
  for (size_t i = 0; strides != nullptr && i < std::min(strides->size(), kernel.size()); ++i)
    if ((*strides)[i] > kernel[i]) return true;
  return false;
}

template <int DilationsSince>
Status pool_from_onnx(OnnxForm& form) {
  if (form.opset < DilationsSince && form.attrs.contains("dilations"))
    return form.leave_opaque(fmt::format("dilations of {} need opset {}", form.op_type, DilationsSince));
  const Ints* kernel = form.get<Ints>("kernel_shape");
  if (kernel == nullptr || kernel->empty()) return fail("{} needs 'kernel_shape'", form.op_type);
  if (is_disputed(form, *kernel)) return form.leave_opaque("engines disagree on this window under SAME");
  return normalize_window(form, kernel->size(), Ints(*kernel));
}

template <int DilationsSince>
Status pool_to_onnx(OnnxForm& form) {
  return write_window(form, DilationsSince);
}

/// Attributes of a pool: those of the window, kernel_shape, ceil_mode (from opset `ceil_since` on) and `more`.
std::vector<AttrDef> pool_attrs(int ceil_since, std::vector<AttrDef> more) {
  std::vector<AttrDef> attrs = window_attrs();
  attrs.push_back({.name = "kernel_shape", .kind = AttrKind::Ints, .domain = AttrDomain::Window});
  attrs.push_back({.name = "ceil_mode", .kind = AttrKind::Int, .preset = int64_t{0}, .since = ceil_since});
  attrs.insert(attrs.end(), more.begin(), more.end());
  return attrs;
}

OpDef global(std::string name, KernelFn kernel, GradientFn gradient, AxiomFn axiom = nullptr, TraitSet traits = {}) {
  return {.name = std::move(name),
          .infer = infer_global,
          .flops = flops_global,
          .kernel = kernel,
          .axiom = axiom,
          .gradient = gradient,
          .traits = traits.with(Trait::Leading),
          .roles = {OperandRole::Image}};
}

}  // namespace

std::vector<OpDef> pool_ops() {
  const AttrDef p = choice("p", int64_t{2}, numbers({2, 1, 3}));
  OpDef global_lp = global("GlobalLpPool", global_lp_kernel, nullptr);
  global_lp.attrs = {p};
  global_lp.since = 2;
  return {
      {.name = "MaxPool",
       .attrs = pool_attrs(10, {{.name = "storage_order", .kind = AttrKind::Int, .preset = int64_t{0}, .since = 8}}),
       .max_results = 2,
       .infer = infer_max_pool,
       .flops = flops_pool,
       .kernel = max_pool_kernel,
       .axiom = max_pool_axiom,
       .gradient = max_pool_gradient,
       .traits = {Trait::Pool, Trait::Leading},
       .roles = {OperandRole::Image},
       .from_onnx = pool_from_onnx<10>,
       .to_onnx = pool_to_onnx<10>},
      {.name = "AveragePool",
       .attrs =
           pool_attrs(10, {{.name = "count_include_pad", .kind = AttrKind::Int, .preset = int64_t{0}, .since = 7}}),
       .infer = infer_pool,
       .flops = flops_pool,
       .kernel = average_pool_kernel,
       .axiom = average_pool_axiom,
       .gradient = average_pool_gradient,
       .traits = {Trait::Pool, Trait::RealsOnly, Trait::Leading},
       .roles = {OperandRole::Image},
       .from_onnx = pool_from_onnx<19>,
       .to_onnx = pool_to_onnx<19>},
      {.name = "LpPool",
       .attrs = pool_attrs(18, {p}),
       .infer = infer_lp_pool,
       .flops = flops_pool,
       .kernel = lp_pool_kernel,
       .traits = {Trait::Leading},
       .roles = {OperandRole::Image},
       .since = 2,
       .from_onnx = pool_from_onnx<18>,
       .to_onnx = pool_to_onnx<18>},
      global("GlobalAveragePool", global_average_kernel, global_average_gradient, global_average_axiom,
             {Trait::RealsOnly}),
      global("GlobalMaxPool", global_max_kernel, global_max_gradient, global_max_axiom),
      std::move(global_lp),
  };
}

}  // namespace isomer
