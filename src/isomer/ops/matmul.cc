// Matrix products and the determinant.

#include "isomer/ops/accumulate.h"
#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/elementwise.h"
#include "isomer/ops/onnx_form.h"
#include "isomer/ops/product.h"
#include "isomer/ops/product_gradient.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// The shape of the product as in NumPy's matmul: operands of rank 1 are a row and a column, and these axes are
/// removed.
Result<Shape> product_shape(const OpView& view) {
  Shape a = view.shape(0);
  Shape b = view.shape(1);
  if (a.empty() || b.empty()) return fail("{} of a scalar", view.op.name);
  const bool row = a.size() == 1;
  const bool column = b.size() == 1;
  if (row) a.insert(a.begin(), Dim(1));
  if (column) b.emplace_back(1);
  const Dim& inner = a.back();
  const Dim& other = b[b.size() - 2];
  if (unequal(inner, other))
    return fail("{} of {} and {}: the inner extents differ", view.op.name, view.type(0).str(), view.type(1).str());
  ISOMER_TRY(Shape shape, broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2)));
  if (!row) shape.push_back(a[a.size() - 2]);
  if (!column) shape.push_back(b.back());
  return shape;
}

Result<std::vector<TensorType>> infer_matmul(const OpView& view) {
  ISOMER_CHECK(want_number(view, 0));
  ISOMER_CHECK(same_dtype(view, 0, 1));
  ISOMER_TRY(Shape shape, product_shape(view));
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

double flops_matmul(const WorkView& view) {
  return 2 * count(view.results[0]) * static_cast<double>(view.operands[0].back());
}

/// The extents of a batched product, and the offset of each matrix of the batch in either operand.
struct Batches {
  int64_t rows, inner, columns;
  std::vector<std::pair<int64_t, int64_t>> offsets;
};

Result<Batches> batches_of(std::vector<int64_t> a, std::vector<int64_t> b, std::vector<int64_t> result) {
  if (a.size() == 1) {
    a.insert(a.begin(), 1);
    result.insert(b.size() == 1 ? result.end() : result.end() - 1, 1);
  }
  if (b.size() == 1) {
    b.push_back(1);
    result.push_back(1);
  }
  Batches batches{a[a.size() - 2], a.back(), b.back(), {}};
  if (b[b.size() - 2] != batches.inner)
    return fail("the inner extents {} and {} differ", batches.inner, b[b.size() - 2]);
  const std::vector<int64_t> batch(result.begin(), result.end() - 2);
  auto a_strides = broadcast_strides({a.begin(), a.end() - 2}, batch);
  auto b_strides = broadcast_strides({b.begin(), b.end() - 2}, batch);
  for_each_position(batch, {a_strides, b_strides}, [&](const int64_t* at) {
    batches.offsets.emplace_back(at[0] * batches.rows * batches.inner, at[1] * batches.inner * batches.columns);
  });
  return batches;
}

/// Whether products of T can be blocked: sums must be in double precision.
template <class T>
constexpr bool kBlocked = std::is_same_v<Accumulator<T>, double>;

/// factor * x; integers are computed in double, because the factor is real.
template <class A>
A scaled(float factor, A x) {
  if (factor == 1) return x;
  if constexpr (std::is_integral_v<A>)
    return saturated<A>(static_cast<double>(factor) * static_cast<double>(x));
  else
    return scalar<A>(factor) * x;
}

/// out = alpha a b
template <class T>
Status scaled_product(const ProductExtents& extents, const MatrixView<T>& a, const MatrixView<T>& b, float alpha,
                      KernelProgress& progress, T* out) {
  using A = Accumulator<T>;
  if constexpr (kBlocked<T>) {
    if (extents.large())
      return blocked_product<T>(extents, a, b, progress,
                                [&](int64_t row, int64_t column, std::span<const double> sums) {
                                  T* to = out + row * extents.columns + column;
                                  for (const double sum : sums) *to++ = static_cast<T>(scaled(alpha, sum));
                                });
  }
  std::vector<A> sums(static_cast<size_t>(extents.columns));
  for (int64_t row = 0; row < extents.rows; ++row) {
    std::fill(sums.begin(), sums.end(), A(0));
    for (int64_t k = 0; k < extents.inner; ++k) {
      const A factor = a.data[row * a.row + k * a.column];
      const T* element = b.data + k * b.row;
      for (A& sum : sums) {
        sum = multiply_add<A>(sum, factor, *element);
        element += b.column;
      }
    }
    for (const A sum : sums) *out++ = static_cast<T>(scaled(alpha, sum));
  }
  return {};
}

/// out = a b, one matrix of the batch after another.
template <class T>
Status multiply(const Batches& batches, std::span<const T> a, std::span<const T> b, std::span<T> out) {
  const ProductExtents extents{batches.rows, batches.inner, batches.columns};
  KernelProgress progress(extents.work() * static_cast<double>(batches.offsets.size()));
  T* matrix = out.data();
  for (const auto& [a_at, b_at] : batches.offsets) {
    ISOMER_CHECK(scaled_product<T>(extents, {a.data() + a_at, extents.inner, 1}, {b.data() + b_at, extents.columns, 1},
                                   1, progress, matrix));
    matrix += extents.rows * extents.columns;
  }
  return {};
}

Status matmul_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() -> Status {
    const Tensor& a = context.operands[0];
    const Tensor& b = context.operands[1];
    Tensor& y = new_result(context);
    ISOMER_TRY(const Batches batches, batches_of(a.dims(), b.dims(), y.dims()));
    return multiply<T>(batches, a.data<T>(), b.data<T>(), y.mutable_data<T>());
  });
}

/// Σ_k a[..., i, k] b[..., k, j]
void matmul_axiom(Axiom& axiom) {
  Scope& scope = axiom.scope;
  const SymbolicTensor& a = axiom.operand(0);
  const SymbolicTensor& b = axiom.operand(1);
  axiom.require(a.rank() > 0 && b.rank() > 0);
  const auto batch_of = [](const SymbolicTensor& x) {
    return std::vector<Dim>(x.shape.begin(), x.shape.end() - (x.rank() == 1 ? 1 : 2));
  };
  const bool row = a.rank() == 1;
  const bool column = b.rank() == 1;
  const Dim inner = unified(scope, a.shape.back(), b.shape[column ? 0 : b.rank() - 2]);
  const std::vector<Dim> batch = broadcast_shape(scope, batch_of(a), batch_of(b));
  const auto joined = [&](const std::vector<Dim>& last) {
    std::vector<Dim> shape = batch;
    shape.insert(shape.end(), last.begin(), last.end());
    return shape;
  };
  const auto last_of = [](const SymbolicTensor& x) {
    return std::vector<Dim>(x.shape.end() - (x.rank() == 1 ? 1 : 2), x.shape.end());
  };
  std::vector<Dim> shape = batch;
  if (!row) shape.push_back(a.shape[a.rank() - 2]);
  if (!column) shape.push_back(b.shape.back());
  const auto at = [&scope, inner, row, column, n = batch.size(), left = broadcast_to(scope, a, joined(last_of(a))),
                   right = broadcast_to(scope, b, joined(last_of(b)))](const SymbolicIndex& index) {
    const SymbolicIndex first(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(n));
    return scope.sum({inner}, [&](const SymbolicIndex& k) {
      SymbolicIndex i = first;
      SymbolicIndex j = first;
      if (!row) i.push_back(index[n]);
      i.push_back(k[0]);
      j.push_back(k[0]);
      if (!column) j.push_back(index.back());
      return scope.times(left.at(i), right.at(j));
    });
  };
  axiom.results.push_back({std::move(shape), at, a.real && b.real});
}

Result<std::vector<TensorType>> infer_gemm(const OpView& view) {
  for (size_t i = 0; i < 2; ++i) {
    ISOMER_CHECK(want_number(view, i));
    ISOMER_CHECK(want_rank(view, i, 2));
  }
  ISOMER_CHECK(same_dtype(view, 0, 1));
  const bool flip_a = view.attrs.integer("transA") != 0;
  const bool flip_b = view.attrs.integer("transB") != 0;
  const Dim& inner = view.shape(0)[flip_a ? 0 : 1];
  const Dim& other = view.shape(1)[flip_b ? 1 : 0];
  if (unequal(inner, other))
    return fail("Gemm of {} and {}: the inner extents differ", view.type(0).str(), view.type(1).str());
  Shape shape{view.shape(0)[flip_a ? 1 : 0], view.shape(1)[flip_b ? 0 : 1]};
  if (view.has(2)) {
    ISOMER_CHECK(same_dtype(view, 0, 2));
    ISOMER_TRY(const Shape both, broadcast(shape, view.shape(2)));
    bool fits = both.size() == 2;
    for (size_t i = 0; fits && i < 2; ++i) fits = !shape[i].is(1) || both[i].is(1);
    if (!fits) return fail("C of Gemm is {}, which does not broadcast to {}", view.type(2).str(), shape_str(shape));
  }
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

double flops_gemm(const WorkView& view) {
  const double inner = static_cast<double>(view.operands[0][view.attrs.integer("transA") != 0 ? 0 : 1]);
  const bool bias = view.operands.size() > 2;
  return (2 * inner + (bias ? 1 : 0)) * count(view.results[0]);
}

/// A matrix, or its transpose.
template <class T>
MatrixView<T> matrix_view(const Tensor& tensor, bool flip) {
  const int64_t width = tensor.dims()[1];
  return {tensor.data<T>().data(), flip ? 1 : width, flip ? width : 1};
}

/// alpha a b + beta c
Status gemm_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() -> Status {
    using A = Accumulator<T>;
    const bool flip_a = context.attrs.integer("transA") != 0;
    const bool flip_b = context.attrs.integer("transB") != 0;
    const int64_t inner = context.operands[0].dims()[flip_a ? 0 : 1];
    if (context.operands[1].dims()[flip_b ? 1 : 0] != inner) return fail("the inner extents differ");
    Tensor& y = new_result(context);
    const auto out = y.mutable_data<T>();
    const ProductExtents extents{y.dims()[0], inner, y.dims()[1]};
    KernelProgress progress(extents.work());
    ISOMER_CHECK(scaled_product<T>(extents, matrix_view<T>(context.operands[0], flip_a),
                                   matrix_view<T>(context.operands[1], flip_b), context.attrs.real("alpha"), progress,
                                   out.data()));
    if (!context.has(2)) return {};
    const auto c = context.operands[2].data<T>();
    size_t n = 0;
    for_each_position(y.dims(), {broadcast_strides(context.operands[2].dims(), y.dims())}, [&](const int64_t* at) {
      const A addend = scaled<A>(context.attrs.real("beta"), c[static_cast<size_t>(at[0])]);
      out[n] = static_cast<T>(multiply_add<A>(addend, A(1), out[n]));
      ++n;
    });
    return {};
  });
}

/// alpha Σ_k a[i, k] b[k, j] + beta c[i, j]
void gemm_axiom(Axiom& axiom) {
  Scope& scope = axiom.scope;
  const SymbolicTensor& a = axiom.operand(0);
  const SymbolicTensor& b = axiom.operand(1);
  axiom.require(a.rank() == 2 && b.rank() == 2);
  const bool flip_a = axiom.known("transA") != 0;
  const bool flip_b = axiom.known("transB") != 0;
  const Dim inner = unified(scope, a.shape[flip_a ? 0 : 1], b.shape[flip_b ? 1 : 0]);
  const std::vector<Dim> shape{a.shape[flip_a ? 1 : 0], b.shape[flip_b ? 0 : 1]};
  std::optional<SymbolicTensor> c;
  if (axiom.has(2)) c = broadcast_to(scope, axiom.operand(2), shape);
  const bool real = a.real && b.real && (!c || c->real);
  // For integers, multiplication by the factor uses real numbers.
  const auto scaled = [&scope, real](const Element& factor, const Element& x) {
    if (factor.number() == 1) return x;
    return real ? scope.times(factor, x) : function("scaled", {factor, x});
  };
  const auto at = [&scope, a, b, c, flip_a, flip_b, inner, scaled, alpha = axiom.number("alpha"),
                   beta = axiom.number("beta")](const SymbolicIndex& index) {
    const Element product = scope.sum({inner}, [&](const SymbolicIndex& k) {
      const SymbolicIndex i = flip_a ? SymbolicIndex{k[0], index[0]} : SymbolicIndex{index[0], k[0]};
      const SymbolicIndex j = flip_b ? SymbolicIndex{index[1], k[0]} : SymbolicIndex{k[0], index[1]};
      return scope.times(a.at(i), b.at(j));
    });
    const Element sum = scaled(alpha, product);
    return c ? sum + scaled(beta, c->at(index)) : sum;
  };
  axiom.results.push_back({shape, at, real});
}

Status gemm_to_onnx(OnnxForm& form) {
  if (form.opset < 11 && !form.has(2)) form.obstacle = "Gemm without C needs opset 11";
  return {};
}

/// Zero points: a single one, or one for each row of A or column of B.
Status check_zero_point(const OpView& view, size_t i, size_t of) {
  if (!view.has(i)) return {};
  ISOMER_CHECK(same_dtype(view, i, of));
  if (view.rank(i) > 1 && view.rank(i) != view.rank(of))
    return fail("zero point {} of MatMulInteger does not fit {}", view.type(i).str(), view.type(of).str());
  return {};
}

Result<std::vector<TensorType>> infer_matmul_integer(const OpView& view) {
  for (size_t i = 0; i < 2; ++i)
    if (!is_integer(view.dtype(i)) || dtype_bits(view.dtype(i)) != 8)
      return fail("operand {} of MatMulInteger must hold integers of 8 bits, it is {}", i, view.type(i).str());
  ISOMER_CHECK(check_zero_point(view, 2, 0));
  ISOMER_CHECK(check_zero_point(view, 3, 1));
  ISOMER_TRY(Shape shape, product_shape(view));
  return std::vector<TensorType>{{DType::Int32, std::move(shape)}};
}

/// x - zero. A vector of zero points is applied per row or column.
Result<Tensor> shifted(const Tensor& x, const Tensor& zero, bool per_row) {
  if (zero.empty()) return x;
  std::vector<int64_t> dims = zero.dims();
  if (zero.element_count() == 1)
    dims.clear();
  else if (dims.size() == 1 && per_row && x.dims().size() > 1)
    dims.push_back(1);
  bool fits = dims.size() <= x.dims().size();
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    const int64_t extent = x.dims()[x.dims().size() - dims.size() + i];
    fits = dims[i] == 1 || dims[i] == extent;
  }
  if (!fits) return fail("the zero point {} does not fit {}", zero.type().str(), x.type().str());
  Tensor out = Tensor::zeros(x.dtype(), x.dims());
  const auto to = out.mutable_data<int64_t>();
  const auto from = x.data<int64_t>();
  size_t n = 0;
  for_each_position(x.dims(), {broadcast_strides(dims, x.dims())}, [&](const int64_t* at) {
    to[n] = from[n] - zero.data<int64_t>()[static_cast<size_t>(at[0])];
    ++n;
  });
  return out;
}

Status matmul_integer_kernel(KernelContext& context) {
  const auto zero = [&](size_t i) { return context.has(i) ? context.operands[i] : Tensor(); };
  ISOMER_TRY(const Tensor a, shifted(context.operands[0], zero(2), true));
  ISOMER_TRY(const Tensor b, shifted(context.operands[1], zero(3), false));
  Tensor& y = new_result(context);
  ISOMER_TRY(const Batches batches, batches_of(a.dims(), b.dims(), y.dims()));
  return multiply<int64_t>(batches, a.data<int64_t>(), b.data<int64_t>(), y.mutable_data<int64_t>());
}

Result<std::vector<TensorType>> infer_det(const OpView& view) {
  ISOMER_CHECK(want_real(view, 0));
  const size_t rank = view.rank(0);
  if (rank < 2) return fail("Det needs square matrices, it got {}", view.type(0).str());
  const Shape& shape = view.shape(0);
  if (unequal(shape[rank - 1], shape[rank - 2]))
    return fail("Det needs square matrices, it got {}", view.type(0).str());
  return std::vector<TensorType>{{view.dtype(0), Shape(shape.begin(), shape.end() - 2)}};
}

double flops_det(const WorkView& view) {
  const auto n = static_cast<double>(view.operands[0].back());
  return 2.0 / 3 * n * n * n * count(view.results[0]);
}

/// Whether `a` is a better pivot than `b`: larger, or in the field, invertible.
template <class A>
bool better_pivot(A a, A b) {
  if constexpr (std::is_same_v<A, Fp>)
    return b == Fp() && !(a == Fp());
  else
    return std::abs(a) > std::abs(b);
}

/// The determinant by elimination with pivots. m is n times n and is overwritten.
template <class A>
A determinant(std::vector<A>& m, size_t n) {
  A det(1);
  for (size_t k = 0; k < n; ++k) {
    size_t best = k;
    for (size_t i = k + 1; i < n; ++i)
      if (better_pivot(m[i * n + k], m[best * n + k])) best = i;
    const A pivot = m[best * n + k];
    if (pivot == A(0)) return A(0);
    det = (best == k ? det : A(0) - det) * pivot;
    if (best != k)
      std::swap_ranges(m.begin() + static_cast<std::ptrdiff_t>(best * n),
                       m.begin() + static_cast<std::ptrdiff_t>(best * n + n),
                       m.begin() + static_cast<std::ptrdiff_t>(k * n));
    for (size_t i = k + 1; i < n; ++i) {
      const A factor = m[i * n + k] / pivot;
      for (size_t j = k; j < n; ++j) m[i * n + j] = m[i * n + j] - factor * m[k * n + j];
    }
  }
  return det;
}

Status det_kernel(KernelContext& context) {
  return for_real(context.operands[0].dtype(), [&]<class T>() -> Status {
    const Tensor& x = context.operands[0];
    const auto n = static_cast<size_t>(x.dims().back());
    if (x.dims()[x.dims().size() - 2] != x.dims().back()) return fail("{} is not square", x.type().str());
    const auto from = x.data<T>();
    const auto to = new_result(context).mutable_data<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      const auto matrix = from.subspan(i * n * n, n * n);
      std::vector<Accumulator<T>> work(matrix.begin(), matrix.end());
      to[i] = static_cast<T>(determinant(work, n));
    }
    return {};
  });
}

}  // namespace

std::vector<OpDef> matmul_ops() {
  return {
      {.name = "MatMul",
       .min_operands = 2,
       .infer = infer_matmul,
       .flops = flops_matmul,
       .kernel = matmul_kernel,
       .axiom = matmul_axiom,
       .gradient = matmul_gradient,
       .traits = {Trait::Product},
       .roles = {OperandRole::Data, OperandRole::RightFactor},
       .infix = Infix{" · ", Infix::Precedence::Product}},
      {.name = "Gemm",
       .attrs = {{.name = "alpha", .kind = AttrKind::Float, .preset = 1.0F},
                 {.name = "beta", .kind = AttrKind::Float, .preset = 1.0F},
                 {.name = "transA", .kind = AttrKind::Int, .preset = int64_t{0}},
                 {.name = "transB", .kind = AttrKind::Int, .preset = int64_t{0}}},
       .min_operands = 2,
       .max_operands = 3,
       .infer = infer_gemm,
       .flops = flops_gemm,
       .kernel = gemm_kernel,
       .axiom = gemm_axiom,
       .gradient = gemm_gradient,
       .traits = {Trait::Product},
       .since = 7,
       .to_onnx = gemm_to_onnx},
      {.name = "MatMulInteger",
       .min_operands = 2,
       .max_operands = 4,
       .infer = infer_matmul_integer,
       .flops = flops_matmul,
       .kernel = matmul_integer_kernel,
       .since = 10},
      {.name = "Det", .infer = infer_det, .flops = flops_det, .kernel = det_kernel, .since = 11},
  };
}

}  // namespace isomer
