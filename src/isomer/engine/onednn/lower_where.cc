// Selects elements of one tensor or another.

#include <algorithm>
#include <array>

#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/own_kernel.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {
namespace {

constexpr int64_t kWhereGrain = 8192;  // minimum number of elements per thread

/// The condition and both tensors under the result's extents: strides in elements, 0 where they are broadcast.
struct Selection {
  Dims to;
  std::array<Dims, 3> strides;
};

/// Returns the row-major strides of an operand that is broadcast to the result's extents.
Dims broadcast_strides(Dims from, const Dims& to) {
  from.insert(from.begin(), to.size() - from.size(), 1);
  Dims strides(to.size());
  int64_t stride = 1;
  for (size_t axis = to.size(); axis-- > 0;) {
    strides[axis] = from[axis] == 1 ? 0 : stride;
    stride *= from[axis];
  }
  return strides;
}

template <int kCount>
struct FlagsOf {
  typedef uint8_t Type __attribute__((vector_size(kCount)));
};

/// Elements of a row, or one element for all of it.
struct Row {
  const float* at;
  int64_t stride;  // 1 or 0

  template <class Vector>
  ISOMER_INLINE void vector(Vector& out, int64_t i) const {
    if (stride == 0) {
      out = Vector{} + *at;
    } else {
      load(out, at + i);
    }
  }
  float operator[](int64_t i) const { return at[i * stride]; }
};

struct SelectRow {
  template <class Vector>
  static ISOMER_INLINE void run(const uint8_t* which, const Row& yes, const Row& no, float* to, int64_t count) {
    using Mask = decltype(Vector{} < Vector{});
    typename FlagsOf<kLanes<Vector>>::Type flags;
    int64_t i = 0;
    for (; i + kLanes<Vector> <= count; i += kLanes<Vector>) {
      std::memcpy(&flags, which + i, sizeof(flags));
      const Mask chosen = __builtin_convertvector(flags, Mask) != 0;
      Vector a, b;
      yes.vector(a, i);
      no.vector(b, i);
      const Vector selected = chosen ? a : b;
      store(to + i, selected);
    }
    for (; i < count; ++i) to[i] = which[i] != 0 ? yes[i] : no[i];
  }
};

void select_row(const Selection& selection, int64_t row, const uint8_t* which, const float* yes, const float* no,
                float* to) {
  const size_t last = selection.to.size() - 1;
  const int64_t width = selection.to[last];
  float* const out = to + row * width;
  std::array<int64_t, 3> offsets{};
  for (size_t axis = last; axis-- > 0;) {
    const int64_t at = row % selection.to[axis];
    for (size_t i = 0; i < 3; ++i) offsets[i] += at * selection.strides[i][axis];
    row /= selection.to[axis];
  }
  const Row a{yes + offsets[1], selection.strides[1][last]};
  const Row b{no + offsets[2], selection.strides[2][last]};
  if (selection.strides[0][last] != 0) return dispatch<SelectRow>(which + offsets[0], a, b, out, width);
  const Row& only = which[offsets[0]] != 0 ? a : b;
  for (int64_t i = 0; i < width; ++i) out[i] = only[i];
}

}  // namespace

Result<bool> lower_where(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto operands = graph.operands(node);
  const ValueId result = node.result();
  if (!is_dense(graph, operands[1]) || !is_dense(graph, operands[2]) || !is_dense(graph, result)) return false;
  const Dims dims = dims_of(graph.type(result));
  if (dims.empty()) return false;
  Selection selection{.to = dims, .strides = {}};
  for (size_t i = 0; i < 3; ++i) selection.strides[i] = broadcast_strides(dims_of(graph.type(operands[i])), dims);
  const Location which = builder.plain(operands[0]);
  const Location yes = builder.plain(operands[1]);
  const Location no = builder.plain(operands[2]);
  const Location to = builder.result(result, plain_desc(dims));
  emit_own(builder, {.name = node.op->name,
                     .from = {which, yes, no},
                     .to = to,
                     .result = result,
                     .run = [=](Workspace& workspace) -> Status {
                       const auto* const flags = reinterpret_cast<const uint8_t*>(workspace.address(which));
                       const int64_t width = selection.to.back();
                       parallel_for(element_count(selection.to) / width, std::max<int64_t>(kWhereGrain / width, 1),
                                    [&](int64_t begin, int64_t end) {
                                      for (int64_t row = begin; row < end; ++row)
                                        select_row(selection, row, flags, elements_at(workspace, yes),
                                                   elements_at(workspace, no), mutable_elements_at(workspace, to));
                                    });
                       return {};
                     }});
  return true;
}

}  // namespace isomer::onednn
