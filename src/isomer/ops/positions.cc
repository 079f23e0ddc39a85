#include "isomer/ops/positions.h"

#include <algorithm>

namespace isomer {

std::vector<int64_t> strides_of(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    // If an extent is 0, the others may be so large that strides wrap around, but then nothing reads them.
    stride = static_cast<int64_t>(static_cast<uint64_t>(stride) * static_cast<uint64_t>(dims[i]));
  }
  return strides;
}

std::vector<int64_t> broadcast_strides(const std::vector<int64_t>& operand, const std::vector<int64_t>& dims) {
  const auto own = strides_of(operand);
  std::vector<int64_t> strides(dims.size(), 0);
  const size_t lead = dims.size() - operand.size();
  for (size_t i = 0; i < operand.size(); ++i) strides[lead + i] = operand[i] == 1 ? 0 : own[i];
  return strides;
}

Walk Walk::merged() const {
  const size_t operands = strides.size();
  if (std::ranges::find(dims, 0) != dims.end())
    return {{0}, std::vector<std::vector<int64_t>>(operands, std::vector<int64_t>{0})};
  Walk out{{}, std::vector<std::vector<int64_t>>(operands)};
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1) continue;
    bool continues = !out.dims.empty();
    for (size_t s = 0; s < operands && continues; ++s)
      continues = out.strides[s].back() == strides[s][axis] * dims[axis];
    if (!continues) {
      out.dims.push_back(1);
      for (auto& of_operand : out.strides) of_operand.push_back(0);
    }
    out.dims.back() *= dims[axis];
    for (size_t s = 0; s < operands; ++s) out.strides[s].back() = strides[s][axis];
  }
  if (!out.dims.empty()) return out;
  return {{1}, std::vector<std::vector<int64_t>>(operands, std::vector<int64_t>{0})};
}

}  // namespace isomer
