// Rotary position embedding.

#include <algorithm>

#include "isomer/ops/accumulate.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

// Operands in ONNX's order.
enum : size_t { kRotated, kCos, kSin, kPositions };

/// The number of rotated elements of each head: rotary_embedding_dim, or the whole head.
Result<Dim> turned_size(const OpView& view) {
  Dim size;
  if (view.rank(kRotated) == 4) {
    size = view.shape(kRotated)[3];
  } else if (view.rank(kRotated) == 3) {
    const int64_t heads = view.attrs.integer("num_heads");
    const Dim& hidden = view.shape(kRotated)[2];
    if (heads < 1 || (hidden.is_const() && hidden.value() % heads != 0))
      return fail("{} of RotaryEmbedding does not split into {} heads", view.type(kRotated).str(), heads);
    size = floor_div(hidden, Dim(heads));
  } else {
    return fail("RotaryEmbedding needs a rank of 3 or 4, got {}", view.type(kRotated).str());
  }
  const int64_t wanted = view.attrs.integer("rotary_embedding_dim");
  if (wanted < 0 || (size.is_const() && wanted > size.value()))
    return fail("rotary_embedding_dim {} is out of range for heads of {}", wanted, size.str());
  if (wanted > 0) size = Dim(wanted);
  if (size.is_const() && size.value() % 2 != 0) return fail("RotaryEmbedding turns pairs, not {} elements", size.str());
  return size;
}

/// Operands: X, tables of cosines and sines (one row per position or, without positions, one per token), positions.
Result<std::vector<TensorType>> infer_rotary(const OpView& view) {
  ISOMER_TRY(const Dim size, turned_size(view));
  const Dim half = floor_div(size, Dim(2));
  for (const size_t i : {size_t{kCos}, size_t{kSin}}) {
    ISOMER_CHECK(same_dtype(view, kRotated, i));
    ISOMER_CHECK(want_rank(view, i, view.has(kPositions) ? 2 : 3));
    const Dim& columns = view.shape(i).back();
    if (unequal(columns, half))
      return fail("RotaryEmbedding needs tables of {} columns, got {}", half.str(), view.type(i).str());
  }
  const Dim& length = view.shape(kRotated)[view.rank(kRotated) - 2];
  const size_t tokens = view.has(kPositions) ? kPositions : kCos;
  if (view.has(kPositions)) ISOMER_CHECK(want_rank(view, kPositions, 2));
  for (size_t axis = 0; axis < 2; ++axis) {
    const Dim& have = view.shape(tokens)[axis];
    const Dim& want = axis == 0 ? view.shape(kRotated)[0] : length;
    if (unequal(have, want))
      return fail("operand {} of RotaryEmbedding, {}, has no row for each token", tokens, view.type(tokens).str());
  }
  return std::vector<TensorType>{view.type(kRotated)};
}

double flops_rotary(const WorkView& view) { return 3 * count(view.results[0]); }

/// Rotates each pair in one token's head by its angle. Pairs are adjacent (`interleaved`) or half the head apart.
template <class T>
void turn(T* y, const T* x, const T* cosines, const T* sines, int64_t half, bool interleaved) {
  for (int64_t i = 0; i < half; ++i) {
    const int64_t a = interleaved ? 2 * i : i;
    const int64_t b = interleaved ? 2 * i + 1 : i + half;
    y[a] = cosines[i] * x[a] - sines[i] * x[b];
    y[b] = sines[i] * x[a] + cosines[i] * x[b];
  }
}

Status rotary_kernel(KernelContext& context) {
  const auto& dims = context.operands[kRotated].dims();
  const bool flat = dims.size() == 3;
  const int64_t heads = flat ? context.attrs.integer("num_heads") : dims[1];
  const int64_t length = flat ? dims[1] : dims[2];
  const int64_t size = flat ? dims[2] / heads : dims[3];
  const int64_t half = context.operands[kCos].dims().back();
  const bool interleaved = context.attrs.integer("interleaved") != 0;
  return for_real(context.operands[kRotated].dtype(), [&]<class T>() -> Status {
    const auto x = context.operands[kRotated].data<T>();
    const auto y = new_result(context).mutable_data<T>();
    std::copy(x.begin(), x.end(), y.begin());
    const int64_t rows = context.has(kPositions) ? context.operands[kCos].dims()[0] : dims[0] * length;
    for (int64_t row = 0; row < dims[0] * heads * length; ++row) {
      const int64_t b = row / heads / length;
      const int64_t token = b * length + (flat ? row / heads % length : row % length);
      const int64_t angle =
          context.has(kPositions) ? context.operands[kPositions].data<int64_t>()[static_cast<size_t>(token)] : token;
      if (angle < 0 || angle >= rows) return fail("position {} of RotaryEmbedding is not in its tables", angle);
      turn(y.data() + row * size, x.data() + row * size, context.operands[kCos].data<T>().data() + angle * half,
           context.operands[kSin].data<T>().data() + angle * half, half, interleaved);
    }
    return {};
  });
}

}  // namespace

std::vector<OpDef> rotary_ops() {
  return {{.name = "RotaryEmbedding",
           .attrs = {{.name = "interleaved", .kind = AttrKind::Int, .preset = int64_t{0}},
                     {.name = "num_heads", .kind = AttrKind::Int, .preset = int64_t{0}},
                     {.name = "rotary_embedding_dim", .kind = AttrKind::Int, .preset = int64_t{0}}},
           .min_operands = 3,
           .max_operands = 4,
           .infer = infer_rotary,
           .flops = flops_rotary,
           .kernel = rotary_kernel,
           .since = 23}};
}

}  // namespace isomer
