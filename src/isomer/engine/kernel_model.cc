#include "isomer/engine/kernel_model.h"

#include "isomer/onnx/export.h"

namespace isomer {

Result<Model> kernel_model_of(const Graph& graph) {
  Status problem;
  for (const int opset : {17, 20, 22, 24}) {
    Model model = make_model(graph, "kernel", opset);
    problem = exportable(model, graph);
    if (problem) return model;
  }
  return tl::unexpected<Error>(problem.error());
}

}  // namespace isomer
