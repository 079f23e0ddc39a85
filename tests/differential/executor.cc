#include "executor.h"

#include "isomer/eval/executor.h"
#include "isomer/eval/fold_testing.h"
#include "isomer/onnx/export.h"

namespace isomer::differential {
namespace {

constexpr int kOpset = 21;

}  // namespace

Result<Executor> Executor::make(const std::string& name) {
  ISOMER_TRY(TempDir folder, TempDir::make());
  Executor out(name, std::move(folder));
  if (name != "reference") {
    const bool plain = name == "ort-plain";
    ISOMER_TRY(out.engine_, make_engine(plain ? "ort" : name, {.optimize = !plain}));
  }
  if (name == "ort") {
    ISOMER_TRY(Executor plain, make("ort-plain"));
    out.plain_ = std::make_unique<Executor>(std::move(plain));
  }
  return out;
}

Result<std::vector<Tensor>> Executor::run(const Graph& graph, const std::vector<Tensor>& inputs) const {
  try {
    return try_run(graph, inputs);
  } catch (const std::exception& thrown) {
    return fail("thrown: {}", thrown.what());
  }
}

Result<std::vector<Tensor>> Executor::try_run(const Graph& graph, const std::vector<Tensor>& inputs) const {
  if (engine_ == nullptr) return run_reference(graph, inputs);
  ISOMER_TRY(const Graph folded, fold_constants(graph));  // as before every export
  const Model model = make_model(folded, "random", kOpset);
  ISOMER_CHECK(exportable(model, folded));
  const auto path = folder_.path() / "random.onnx";
  ISOMER_CHECK(export_model(model, path));
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < inputs.size(); ++i) named.emplace_back(input_name(model, i), inputs[i]);
  ISOMER_TRY(const SessionId session, engine_->load(path));
  auto outputs = engine_->run(session, named);
  ISOMER_CHECK(engine_->unload(session));
  return outputs;
}

}  // namespace isomer::differential
