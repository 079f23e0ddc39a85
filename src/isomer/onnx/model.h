#pragma once
// A model: its graph, and the other content of its ONNX file.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// Everything of an ONNX file that is not the graph: opset imports, names, doc strings, metadata, functions, value
/// infos, node names by Origin. Defined in onnx/, opaque elsewhere; shared by all graphs derived from one model.
struct ModelInfo;

struct Model {
  Graph graph;
  std::shared_ptr<const ModelInfo> info;

  /// The same model with another graph that computes the same outputs.
  Model with(Graph other) const { return {std::move(other), info}; }
};

/// A model for a graph that was not imported, at an opset of the standard domain. Names come from the graph's name
/// table; unnamed inputs and outputs get new names.
Model make_model(Graph graph, const std::string& name, int opset);

/// The model with a graph that has further outputs, and perhaps further inputs, after the model's own, with these
/// names. Fails if another value of the model has such a name.
Result<Model> with_more_outputs(const Model& model, Graph graph, std::span<const std::string> names,
                                std::span<const std::string> input_names = {});

/// An input or output of a model: its name, and the value that a run may leave out (inputs only; empty(): none).
struct Port {
  std::string name;
  Tensor preset = {};
};

/// Whether the model has a value with this name.
bool has_value(const Model& model, const std::string& name);

/// The model with a graph that has these inputs and outputs, in order. Those that the model has by the same name and
/// type keep their descriptions. Fails if two inputs or two outputs have one name, if a new one has the name of another
/// value, or if the model's training information names an input that is gone.
Result<Model> with_ports(const Model& model, Graph graph, std::span<const Port> inputs, std::span<const Port> outputs);

/// The opset of the standard domain that the model imports.
int opset_of(const Model& model);
/// The model at a later opset of the standard domain. Its nodes take the form of that opset, which not all may have
/// (exportable). Fails if the model has functions, or a node of the standard domain that Isomer does not interpret.
Result<Model> at_opset(const Model& model, int opset);
/// The version of every operator set that the model imports, by domain; "" is the standard domain.
const std::map<std::string, int>& opset_imports(const Model& model);
/// Whether the model was read from a file that has weights in other files.
bool uses_external_data(const Model& model);
/// The text that the model's metadata has under a key; nothing if there is none.
std::optional<std::string> metadata(const Model& model, const std::string& key);
/// The model with this text under the key; without the key if the text is empty.
Model with_metadata(const Model& model, const std::string& key, const std::string& text);
/// Name of the i-th graph input or output.
std::string input_name(const Model& model, size_t i);
std::string output_name(const Model& model, size_t i);
/// The default value of the i-th graph input; nullptr if every run must provide a value.
const Tensor* input_default(const Model& model, size_t i);

}  // namespace isomer
