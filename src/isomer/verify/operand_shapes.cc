#include "isomer/verify/operand_shapes.h"

#include <algorithm>

#include "isomer/verify/attr_domains.h"

namespace isomer {
namespace {

Ints extents(const TensorType& type) { return concrete(*type.shape).value_or(Ints{}); }

std::vector<Ints> of_rank(size_t rank, int64_t max_extent) {
  std::vector<Ints> out = small_shapes(rank, max_extent);
  std::erase_if(out, [&](const Ints& shape) { return shape.size() != rank; });
  return out;
}

/// Shapes that differ from the first operand's in one extent at most.
std::vector<Ints> concat_shapes(const Ints& first, int64_t max_extent) {
  std::vector<Ints> out{first};
  for (size_t axis = 0; axis < first.size(); ++axis)
    for (int64_t extent = 1; extent <= max_extent; ++extent) {
      if (extent == first[axis]) continue;
      out.push_back(first);
      out.back()[axis] = extent;
    }
  return out;
}

bool is_norm(const OpDef& op) { return op.name == "BatchNormalization" || op.name == "InstanceNormalization"; }

}  // namespace

std::optional<DType> fixed_operand_dtype(const OpDef& op, size_t index) {
  const std::string& name = op.name;
  if (name == "And" || name == "Or" || name == "Xor" || name == "Not") return DType::Bool;
  if (name == "Where" && index == 0) return DType::Bool;
  if (name == "Compress" && index == 1) return DType::Bool;
  const bool indexed = name == "Gather" || name == "GatherElements" || name == "GatherND" ||
                       name == "ScatterElements" || name == "ScatterND";
  if (indexed && index == 1) return DType::Int64;
  return std::nullopt;
}

std::optional<std::vector<Ints>> possible_shapes(const OpDef& op, size_t index,
                                                 std::span<const TensorType* const> earlier, size_t max_rank,
                                                 int64_t max_extent) {
  const bool windowed = op.name == "Conv" || op.name == "ConvTranspose";
  if (index == 0 || earlier[0] == nullptr) {
    const bool spatial = windowed || op.name.ends_with("Pool");
    if (!spatial) return std::nullopt;
    std::vector<Ints> out;
    for (size_t rank = 3; rank <= max_rank; ++rank)
      for (Ints& shape : of_rank(rank, max_extent)) out.push_back(std::move(shape));
    return out;
  }
  const Ints first = extents(*earlier[0]);
  if (op.name == "Concat") return concat_shapes(first, max_extent);
  if (is_norm(op)) return first.size() < 2 ? std::vector<Ints>{} : std::vector<Ints>{{first[1]}};
  if (windowed && index == 1) return of_rank(first.size(), max_extent);
  if (windowed && index == 2 && earlier[1] != nullptr && op.name == "Conv") {
    const Ints weight = extents(*earlier[1]);
    return weight.empty() ? std::vector<Ints>{} : std::vector<Ints>{{weight[0]}};
  }
  return std::nullopt;
}

}  // namespace isomer
