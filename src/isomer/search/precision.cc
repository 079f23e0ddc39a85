#include "isomer/search/precision.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "isomer/eval/compare.h"

namespace isomer {

Status PrecisionLoss::account(std::span<const Tensor> got, std::span<const Tensor> in_f32) {
  const Tolerance any{.rtol = 0, .atol = std::numeric_limits<double>::infinity()};
  ISOMER_TRY(const Comparison comparison, compare_outputs(got, in_f32, any));
  for (size_t i = 0; i < comparison.outputs.size(); ++i) {
    const OutputComparison& one = comparison.outputs[i];
    if (!one.equal()) return fail("output {} in {} and in f32: {}", i, dtype_name(dtype), one.str());
    max_abs = std::max(max_abs, one.max_abs);
    max_rel = std::max(max_rel, one.max_rel);
  }
  ++inputs;
  return {};
}

std::string PrecisionLoss::str() const {
  return fmt::format("{}: within {:.1e} of f32, relative to the largest element", dtype_name(dtype), max_rel);
}

nlohmann::json to_json(const PrecisionLoss& loss) {
  return {
      {"dtype", dtype_name(loss.dtype)}, {"max_abs", loss.max_abs}, {"max_rel", loss.max_rel}, {"inputs", loss.inputs}};
}

Result<PrecisionLoss> precision_loss(const std::string& engine, const EngineOptions& options,
                                     const std::filesystem::path& onnx, std::span<const NamedTensor> inputs,
                                     std::span<const Tensor> outputs) {
  EngineOptions in_f32 = options;
  in_f32.dtype = DType::Float;
  ISOMER_TRY(const auto exact, make_engine(engine, in_f32));
  ISOMER_TRY(const SessionId session, exact->load(onnx));
  ISOMER_TRY(const auto expected, exact->run(session, inputs));
  PrecisionLoss loss{.dtype = options.dtype};
  ISOMER_CHECK(loss.account(outputs, expected));
  return loss;
}

}  // namespace isomer
