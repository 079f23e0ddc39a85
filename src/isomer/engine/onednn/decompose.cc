#include "isomer/engine/onednn/decompose.h"

#include <algorithm>
#include <numeric>

#include "isomer/engine/onednn/einsum_product.h"
#include "isomer/engine/onednn/rearranged.h"
#include "isomer/ops/registry.h"

namespace isomer::onednn {
namespace {

/// Returns whether a value is added to every row of a matrix with `columns` columns.
bool is_row(const GraphBuilder& builder, ValueId value, const Dim& columns) {
  const Shape& extents = *builder.type(value).shape;
  return !extents.empty() && extents.back() == columns &&
         std::all_of(extents.begin(), extents.end() - 1, [](const Dim& extent) { return extent.is(1); });
}

Result<ValueId> product(GraphBuilder& builder, const Node& gemm, std::span<const ValueId> operands, bool weights) {
  const Attrs swap = {{"perm", Ints{1, 0}}};
  ValueId a = operands[0];
  ValueId b = operands[1];
  if (gemm.attrs.integer("transA") != 0) {
    ISOMER_TRY(a, builder.add(*find_op("Transpose"), swap, {a}));
  }
  const int64_t transposed = gemm.attrs.integer("transB");
  if (weights) {
    const Attrs attrs = {{"alpha", 1.0F}, {"beta", 1.0F}, {"transA", int64_t{0}}, {"transB", transposed}};
    return builder.add(*gemm.op, attrs, {a, b});
  }
  if (transposed != 0) {
    ISOMER_TRY(b, builder.add(*find_op("Transpose"), swap, {b}));
  }
  return builder.add(*find_op("MatMul"), {}, {a, b});
}

Result<ValueId> scaled(GraphBuilder& builder, ValueId value, float factor) {
  const Tensor* data = builder.constant_data(value);
  if (data == nullptr) return builder.add(*find_op("Mul"), {}, {value, builder.constant(Tensor::floats({}, {factor}))});
  Tensor product = Tensor::zeros(DType::Float, data->dims());
  std::ranges::transform(data->data<float>(), product.mutable_data<float>().begin(),
                         [&](float element) { return element * factor; });
  return builder.constant(std::move(product));
}

/// Turns everything that a Gemm does other than multiplying by weights and adding a row into separate nodes: views of
/// the operands, and element-wise ones that become posts of the product.
Result<std::optional<ValueId>> decompose_gemm(GraphBuilder& builder, const Node& gemm,
                                              std::span<const ValueId> operands) {
  const std::optional<ValueId> none;
  const bool weights = builder.constant_data(operands[1]) != nullptr;
  const bool transposed = gemm.attrs.integer("transA") != 0;
  const float alpha = gemm.attrs.real("alpha");
  const float beta = gemm.attrs.real("beta");
  const ValueId c = operands.size() > 2 ? operands[2] : kNoValue;
  const Shape& wide = *builder.type(operands[1]).shape;
  const Dim& columns = wide[gemm.attrs.integer("transB") != 0 ? 0 : 1];
  const bool simple = c == kNoValue || (beta == 1 && is_row(builder, c, columns));
  if (builder.type(operands[0]).dtype != DType::Float || (weights && !transposed && alpha == 1 && simple)) return none;
  ISOMER_TRY(ValueId result, product(builder, gemm, operands, weights));
  if (alpha != 1) {
    ISOMER_TRY(result, scaled(builder, result, alpha));
  }
  if (c == kNoValue) return std::optional(result);
  ValueId added = c;
  if (beta != 1) {
    ISOMER_TRY(added, scaled(builder, c, beta));
  }
  ISOMER_TRY(result, builder.add(*find_op("Add"), {}, {result, added}));
  return std::optional(result);
}

/// Treats groups of channels as channels; scale and shift of each channel follow.
Result<ValueId> decompose_group_norm(GraphBuilder& builder, const Node& node, std::span<const ValueId> operands) {
  const Ints extents = extents_of(builder, operands[0]);
  const int64_t groups = node.attrs.integer("num_groups");
  const int64_t rest = std::accumulate(extents.begin() + 1, extents.end(), int64_t{1}, std::multiplies<>());
  const bool per_group = node.attrs.integer("per_group") != 0;
  const auto filled = [&](float element) {
    return builder.constant(Tensor::floats({groups}, std::vector<float>(static_cast<size_t>(groups), element)));
  };
  ISOMER_TRY(ValueId y, reshaped(builder, operands[0], {extents[0], groups, rest / groups}));
  ISOMER_TRY(y, builder.add(*find_op("InstanceNormalization"), {{"epsilon", node.attrs.real("epsilon")}},
                            {y, per_group ? operands[1] : filled(1), per_group ? operands[2] : filled(0)}));
  ISOMER_TRY(y, reshaped(builder, y, extents));
  if (per_group) return y;
  Ints by_channel(extents.size() - 1, 1);
  by_channel[0] = extents[1];
  ISOMER_TRY(const ValueId scale, reshaped(builder, operands[1], by_channel));
  ISOMER_TRY(const ValueId shift, reshaped(builder, operands[2], by_channel));
  ISOMER_TRY(y, builder.add(*find_op("Mul"), {}, {y, scale}));
  return builder.add(*find_op("Add"), {}, {y, shift});
}

/// Turns blocks of pixels into channels, or the reverse.
Result<ValueId> decompose_rearrangement(GraphBuilder& builder, const Node& node, ValueId x) {
  const Ints from = extents_of(builder, x);
  const int64_t block = node.attrs.integer("blocksize");
  const bool depth_first = node.attrs.text("mode") == "DCR";
  if (node.op->name == "SpaceToDepth") {
    ISOMER_TRY(x, reshaped(builder, x, {from[0], from[1], from[2] / block, block, from[3] / block, block}));
    ISOMER_TRY(x, transposed(builder, x, depth_first ? Ints{0, 3, 5, 1, 2, 4} : Ints{0, 1, 3, 5, 2, 4}));
    return reshaped(builder, x, {from[0], from[1] * block * block, from[2] / block, from[3] / block});
  }
  const int64_t channels = from[1] / (block * block);
  ISOMER_TRY(x, reshaped(builder, x,
                         depth_first ? Ints{from[0], block, block, channels, from[2], from[3]}
                                     : Ints{from[0], channels, block, block, from[2], from[3]}));
  ISOMER_TRY(x, transposed(builder, x, depth_first ? Ints{0, 3, 4, 1, 5, 2} : Ints{0, 1, 4, 2, 5, 3}));
  return reshaped(builder, x, {from[0], channels, from[2] * block, from[3] * block});
}

/// Returns whether a value is f32 with known extents, none of them 0.
bool has_elements(const GraphBuilder& builder, ValueId value) {
  const TensorType& type = builder.type(value);
  const auto extents = type.dtype == DType::Float && type.shape ? concrete(*type.shape) : std::nullopt;
  return extents && std::ranges::find(*extents, 0) == extents->end();
}

}  // namespace

Result<std::optional<ValueId>> decompose(GraphBuilder& builder, const Node& node, std::span<const ValueId> operands) {
  const std::optional<ValueId> none;
  if (!node.op->domain.empty()) return none;
  const std::string& name = node.op->name;
  if (name == "Gemm") return decompose_gemm(builder, node, operands);
  if (operands.empty() ||
      !std::ranges::all_of(operands, [&](ValueId v) { return v != kNoValue && has_elements(builder, v); }))
    return none;
  const auto some = [](ValueId value) { return std::optional(value); };
  if (name == "GroupNormalization") return decompose_group_norm(builder, node, operands).map(some);
  if (name == "DepthToSpace" || name == "SpaceToDepth")
    return decompose_rearrangement(builder, node, operands[0]).map(some);
  if (name == "Einsum") return einsum_product(builder, node, operands);
  return none;
}

}  // namespace isomer::onednn
