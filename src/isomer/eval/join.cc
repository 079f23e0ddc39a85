#include "isomer/eval/join.h"

#include "isomer/eval/executor.h"
#include "isomer/ir/builder.h"
#include "isomer/ops/registry.h"

namespace isomer {

Result<Tensor> joined(std::span<const Tensor> parts, int64_t axis) {
  GraphBuilder builder;
  std::vector<ValueId> inputs;
  for (const Tensor& part : parts) inputs.push_back(builder.input(part.type()));
  ISOMER_TRY(const ValueId whole, builder.add(op("Concat"), {{"axis", axis}}, inputs));
  ISOMER_TRY(std::vector<Tensor> out, run_reference(builder.finish(std::vector{whole}), parts));
  return std::move(out[0]);
}

}  // namespace isomer
