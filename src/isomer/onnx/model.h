#pragma once
// A model: its graph, and what ONNX says beside the graph.

#include <map>
#include <memory>
#include <string>

#include "isomer/ir/graph.h"

namespace isomer {

/// Everything of an ONNX file that is not the graph: opset imports, names, doc strings, metadata, functions, value
/// infos, node names by Origin. Defined in onnx/, opaque elsewhere; shared by all graphs derived from one model.
struct ModelInfo;

struct Model {
  Graph graph;
  std::shared_ptr<const ModelInfo> info;

  /// The same model with another graph, which computes the same outputs.
  Model with(Graph other) const { return {std::move(other), info}; }
};

/// A model around a graph made by hand, at an opset of the standard domain. Names come from the graph's name table;
/// unnamed inputs and outputs get names.
Model make_model(Graph graph, const std::string& name, int opset);

/// The opset of the standard domain that the model imports.
int opset_of(const Model& model);
/// The version of every operator set that the model imports, by domain; "" is the standard one.
const std::map<std::string, int>& opset_imports(const Model& model);
/// Whether the file that the model was read from keeps weights in other files.
bool uses_external_data(const Model& model);
/// Name of the i-th graph input or output.
std::string input_name(const Model& model, size_t i);
std::string output_name(const Model& model, size_t i);
/// The value that the i-th graph input has in a run that does not give it another; nullptr where a run must give it.
const Tensor* input_default(const Model& model, size_t i);

}  // namespace isomer
