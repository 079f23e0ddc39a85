#pragma once
// The import of one model, step by step. Used only by import.cc and import_node.cc.

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isomer/ir/builder.h"
#include "isomer/onnx/model_info.h"
#include "isomer/onnx/shape_values.h"
#include "isomer/onnx/value_types.h"
#include "isomer/ops/onnx_form.h"

namespace isomer {

class ExternalData;

class Importer {
 public:
  /// Consumes the content of `model`. `scalars` goes into its info.
  Importer(onnx::ModelProto& model, ExternalData& external, std::vector<std::string> scalars)
      : model_(model), external_(external) {
    info_->scalars = std::move(scalars);
  }

  /// Imports the model. Errors name the node (or input, ...) and the reason, but not the file.
  Result<Model> run();

 private:
  // import.cc: everything but nodes.
  Status read_opsets();
  /// Sorts the nodes of the graph, its subgraphs and the functions.
  Status sort();
  void read_names();
  Status read_declared_types();
  Status read_initializers();
  Status read_initializer(onnx::TensorProto& proto);
  Status read_inputs();
  Status read_sparse_initializers();
  Status read_nodes();
  Status embed_rest();
  Result<std::vector<ValueId>> read_outputs();
  Result<Model> finish(std::span<const ValueId> outputs);
  /// Gives a value its name. Fails if another value already has this name.
  Status define(const std::string& name, ValueId value);
  Status define_constant(const std::string& name, Tensor tensor);
  Status define_trained(const std::string& name, const Tensor& tensor);

  // import_node.cc: one node.
  Status read_node(onnx::NodeProto& proto, bool quantized);
  Status read_constant(const onnx::NodeProto& proto);
  Result<std::vector<ValueId>> operands_of(const onnx::NodeProto& proto) const;
  Result<ValueId> use(const std::string& name) const;
  /// Reads the attributes into `form`. Returns false if some are of kinds that the graph does not support.
  Result<bool> read_attributes(const onnx::NodeProto& proto, OnnxForm& form) const;
  Result<OnnxForm> form_of(const onnx::NodeProto& proto, int opset, std::span<const ValueId> operands) const;
  /// Connects the form to the types of its operands. Valid until the next node is built.
  void set_types(OnnxForm& form) const;
  /// Builds a node of a declared operator. Returns false if it must be opaque.
  Result<bool> read_known(const onnx::NodeProto& proto, OnnxForm form);
  void keep_form(NodeId id, std::optional<OriginalForm> form);
  bool as_declared(const onnx::NodeProto& proto, const Node& node) const;
  Status define_results(const onnx::NodeProto& proto, NodeId id);
  /// The results as constants if they can be computed; otherwise empty.
  std::vector<ValueId> known_results(NodeId id);
  /// Adds an opaque node. `form` is the node's form if its attributes could be read, otherwise nullptr. It determines
  /// the result types, and the node's attributes if the operator is declared.
  Status add_opaque(onnx::NodeProto& proto, int opset, std::vector<ValueId> operands, const OnnxForm* form);
  /// The types of an opaque node's results, as far as they are known.
  std::vector<TensorType> opaque_types(const onnx::NodeProto& proto, const OnnxForm* form);
  /// The elements of a value if they are known; otherwise empty().
  Tensor known(ValueId value) const;
  Status add_opaque_sparse(onnx::SparseTensorProto& proto);

  onnx::ModelProto& model_;
  ExternalData& external_;
  std::shared_ptr<ModelInfo> info_ = std::make_shared<ModelInfo>();
  std::shared_ptr<NameTable> names_ = std::make_shared<NameTable>();
  GraphBuilder builder_{names_};
  TypeReader types_;
  std::unordered_map<std::string, TensorType> declared_;
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_map<ValueId, Tensor> computed_;  // known values that remain nodes
  ShapeValues shapes_;
  std::unordered_set<std::string> inputs_;
  std::unordered_set<std::string> trained_;    // the names in training_info and of annotations
  std::unordered_set<std::string> functions_;  // domain, NUL, name
  int64_t opaque_nodes_ = 0;
  int64_t unknown_extents_ = 0;
};

}  // namespace isomer
