// libFuzzer target: for any text in a model's metadata, there are decisions or an error; and decisions that are written
// are read again.

#include <cstdlib>

#include "isomer/ir/builder.h"
#include "isomer/plan/stored_decisions.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace isomer;
  GraphBuilder builder;
  const ValueId x = builder.input({DType::Float, Shape{Dim(2)}});
  builder.name(x, "x");
  const Model model = make_model(builder.finish(std::vector{x}), "model", 17);
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto decisions = stored_decisions(with_metadata(model, "isomer.decisions", text));
  if (!decisions) return 0;
  const auto written = with_candidate(model, {model.graph, *decisions});
  const auto again = written ? stored_decisions(*written) : tl::unexpected(written.error());
  if (!again || *again != *decisions) std::abort();
  return 0;
}
