#include "isomer/check/operand_shapes.h"

#include <algorithm>

#include "isomer/check/attr_domains.h"

namespace isomer {
namespace {

Ints shape_of(const TensorType& type) { return concrete(*type.shape).value_or(Ints{}); }

/// Returns shapes that differ from the first operand's in at most one extent.
std::vector<Ints> concat_shapes(const Ints& first, const Ints& extents) {
  std::vector<Ints> out{first};
  for (size_t axis = 0; axis < first.size(); ++axis)
    for (const int64_t extent : extents) {
      if (extent == first[axis]) continue;
      out.push_back(first);
      out.back()[axis] = extent;
    }
  return out;
}

/// Returns whether two shapes broadcast, ignoring their last `but` axes.
bool broadcast(const Ints& a, const Ints& b, size_t but) {
  for (size_t i = but; i < std::min(a.size(), b.size()); ++i) {
    const int64_t x = a[a.size() - 1 - i];
    const int64_t y = b[b.size() - 1 - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

std::vector<Ints> broadcast_shapes(const Ints& first, size_t max_rank, const Ints& extents) {
  std::vector<Ints> out = small_shapes(max_rank, extents);
  std::erase_if(out, [&](const Ints& shape) { return !broadcast(first, shape, 0); });
  return out;
}

std::vector<Ints> product_shapes(const Ints& first, size_t max_rank, const Ints& extents) {
  std::vector<Ints> out = small_shapes(max_rank, extents);
  std::erase_if(out, [&](const Ints& shape) {
    if (first.empty() || shape.empty()) return true;
    return first.back() != shape[shape.size() - std::min<size_t>(2, shape.size())] || !broadcast(first, shape, 2);
  });
  return out;
}

/// Returns shapes of the weights of a convolution: outputs, channels of one group, window.
std::vector<Ints> weight_shapes(const Ints& image, const Ints& extents) {
  std::vector<Ints> out = lists_of(image.size(), extents);
  std::erase_if(out, [&](const Ints& weight) {
    if (image[1] == 0 || weight[1] == 0) return image[1] != weight[1];
    return image[1] % weight[1] != 0 || weight[0] % (image[1] / weight[1]) != 0;
  });
  return out;
}

}  // namespace

std::optional<DType> fixed_operand_dtype(const OpDef& op, size_t index) {
  if (op.role(index) == OperandRole::Condition) return DType::Bool;
  if (holds_indices(op, index)) return DType::Int64;
  return std::nullopt;
}

bool holds_indices(const OpDef& op, size_t index) {
  const OperandRole role = op.role(index);
  return role == OperandRole::Indices || role == OperandRole::ElementIndices || role == OperandRole::Coordinates ||
         role == OperandRole::Labels;
}

bool divides_extents(const OpDef& op) {
  return std::ranges::any_of(op.attrs, [](const AttrDef& attr) {
    return attr.domain == AttrDomain::Groups || attr.domain == AttrDomain::Divisor;
  });
}

std::optional<std::vector<Ints>> possible_shapes(const OpDef& op, size_t index,
                                                 std::span<const TensorType* const> earlier, size_t max_rank,
                                                 const Ints& extents) {
  if (index == 0 || earlier[0] == nullptr) {
    if (op.role(0) != OperandRole::Image) return std::nullopt;
    std::vector<Ints> out = small_shapes(max_rank, extents);
    std::erase_if(out, [](const Ints& shape) { return shape.size() < 3; });
    return out;
  }
  const Ints first = shape_of(*earlier[0]);
  if (op.has(Trait::Broadcast)) return broadcast_shapes(first, max_rank, extents);
  if (op.has(Trait::Concatenation)) return concat_shapes(first, extents);
  if (op.role(0) == OperandRole::Image && first.size() < 3) return std::vector<Ints>{};
  switch (op.role(index)) {
    case OperandRole::RightFactor:
      return product_shapes(first, max_rank, extents);
    case OperandRole::PerChannel:
      return first.size() < 2 ? std::vector<Ints>{} : std::vector<Ints>{{first[1]}};
    case OperandRole::Filters:
      return weight_shapes(first, extents);
    case OperandRole::TransposedFilters:
      return lists_of(first.size(), extents);
    case OperandRole::FilterBias: {
      if (earlier[1] == nullptr) return std::nullopt;
      const Ints weight = shape_of(*earlier[1]);
      return weight.empty() ? std::vector<Ints>{} : std::vector<Ints>{{weight[0]}};
    }
    default:
      return std::nullopt;
  }
}

}  // namespace isomer
