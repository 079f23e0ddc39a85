#include "isomer/verify/operand_shapes.h"

#include <algorithm>

#include "isomer/verify/attr_domains.h"

namespace isomer {
namespace {

Ints shape_of(const TensorType& type) { return concrete(*type.shape).value_or(Ints{}); }

/// Shapes that differ from the first operand's in one extent at most.
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

/// Whether two shapes broadcast, but for their last `but` axes.
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

/// Weights of a convolution: outputs, channels of one group, window.
std::vector<Ints> weight_shapes(const Ints& image, const Ints& extents) {
  std::vector<Ints> out = lists_of(image.size(), extents);
  std::erase_if(
      out, [&](const Ints& weight) { return image[1] % weight[1] != 0 || weight[0] % (image[1] / weight[1]) != 0; });
  return out;
}

bool is_norm(const OpDef& op) { return op.name == "BatchNormalization" || op.name == "InstanceNormalization"; }

}  // namespace

std::optional<DType> fixed_operand_dtype(const OpDef& op, size_t index) {
  const std::string& name = op.name;
  if (name == "And" || name == "Or" || name == "Xor" || name == "Not") return DType::Bool;
  if (name == "Where" && index == 0) return DType::Bool;
  if (name == "Compress" && index == 1) return DType::Bool;
  if (holds_indices(op, index)) return DType::Int64;
  return std::nullopt;
}

bool holds_indices(const OpDef& op, size_t index) {
  const std::string& name = op.name;
  const bool indexed = name == "Gather" || name == "GatherElements" || name == "GatherND" ||
                       name == "ScatterElements" || name == "ScatterND";
  return indexed && index == 1;
}

bool broadcasts(const OpDef& op) {
  constexpr std::string_view kNames[] = {"Add", "Sub", "Mul", "Div", "Pow", "Where", "Min", "Max", "Equal", "Less"};
  return std::find(std::begin(kNames), std::end(kNames), op.name) != std::end(kNames);
}

bool divides_extents(const OpDef& op) {
  return op.find_attr("group") != nullptr || op.find_attr("num_groups") != nullptr ||
         op.find_attr("blocksize") != nullptr;
}

std::optional<std::vector<Ints>> possible_shapes(const OpDef& op, size_t index,
                                                 std::span<const TensorType* const> earlier, size_t max_rank,
                                                 const Ints& extents) {
  const bool windowed = op.name == "Conv" || op.name == "ConvTranspose";
  if (index == 0 || earlier[0] == nullptr) {
    const bool spatial = windowed || op.name.ends_with("Pool");
    if (!spatial) return std::nullopt;
    std::vector<Ints> out = small_shapes(max_rank, extents);
    std::erase_if(out, [](const Ints& shape) { return shape.size() < 3; });
    return out;
  }
  const Ints first = shape_of(*earlier[0]);
  if (broadcasts(op)) return broadcast_shapes(first, max_rank, extents);
  if (op.name == "MatMul") return product_shapes(first, max_rank, extents);
  if (op.name == "Concat") return concat_shapes(first, extents);
  if (is_norm(op)) return first.size() < 2 ? std::vector<Ints>{} : std::vector<Ints>{{first[1]}};
  if (windowed && first.size() < 3) return std::vector<Ints>{};
  if (windowed && index == 1)
    return op.name == "Conv" ? weight_shapes(first, extents) : lists_of(first.size(), extents);
  if (windowed && index == 2 && earlier[1] != nullptr && op.name == "Conv") {
    const Ints weight = shape_of(*earlier[1]);
    return weight.empty() ? std::vector<Ints>{} : std::vector<Ints>{{weight[0]}};
  }
  return std::nullopt;
}

}  // namespace isomer
