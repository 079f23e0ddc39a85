#include "isomer/ir/infer_node.h"

namespace isomer {
namespace {

/// Refuses extents that do not fit into memory, so that later arithmetic on them cannot overflow.
Status check_size(const OpDef& op, const TensorType& type) {
  if (!type.shape) return {};
  __int128 count = 1;
  for (const Dim& dim : *type.shape) {
    if (!dim.is_const()) continue;
    if (dim.value() < 0) return fail("{} would have a result of negative extent: {}", op.name, type.str());
    count *= dim.value();
    if (count > Dim::kHuge / 64) return fail("{} would have a result too large to address: {}", op.name, type.str());
  }
  return {};
}

}  // namespace

Result<std::vector<TensorType>> infer_node(const OpDef& op, const Attrs& attrs,
                                           std::span<const TensorType* const> operands, size_t num_results) {
  if (operands.size() < op.min_operands || operands.size() > op.max_operands)
    return fail("{} got {} operands", op.name, operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] == nullptr) {
      if (i < op.min_operands) return fail("operand {} of {} is missing", i, op.name);
    } else if (!operands[i]->known()) {
      return fail("operand {} of {} has an unknown type", i, op.name);
    }
  }
  ISOMER_TRY(std::vector<TensorType> results, op.infer(OpView{op, attrs, operands, num_results}));
  if (results.size() < op.min_results || results.size() > op.max_results)
    return fail("{} cannot have {} results", op.name, results.size());
  for (const TensorType& result : results) ISOMER_CHECK(check_size(op, result));
  return results;
}

}  // namespace isomer
