#pragma once
// Helpers for this room's tests: hand-written ModelProtos and round trips.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "isomer/ir/builder.h"
#include "isomer/ir/text.h"
#include "isomer/ir/verify_testing.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/ops/registry.h"
#include "onnx-ml.pb.h"

namespace isomer::test {

/// A ModelProto that is built step by step.
struct ProtoModel {
  explicit ProtoModel(int64_t ir_version = 8, int64_t opset = 17) {
    proto.set_ir_version(ir_version);
    import("", opset);
    graph().set_name("test");
  }
  onnx::GraphProto& graph() { return *proto.mutable_graph(); }
  void import(const std::string& domain, int64_t version) {
    auto* opset = proto.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(version);
  }
  /// Fills the ValueInfo of a tensor; "N" and the like are dim_params.
  static void describe(onnx::ValueInfoProto* info, const std::string& name, const std::vector<std::string>& dims,
                       int dtype = onnx::TensorProto::FLOAT) {
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(dtype);
    tensor->mutable_shape();
    for (const std::string& dim : dims) {
      auto* to = tensor->mutable_shape()->add_dim();
      if (dim.find_first_not_of("-0123456789") == std::string::npos)
        to->set_dim_value(std::stoll(dim));
      else
        to->set_dim_param(dim);
    }
  }
  void input(const std::string& name, const std::vector<std::string>& dims) {
    describe(graph().add_input(), name, dims);
  }
  void output(const std::string& name, const std::vector<std::string>& dims = {"2"}) {
    describe(graph().add_output(), name, dims);
  }
  onnx::TensorProto* floats(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& data) {
    auto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    tensor->mutable_dims()->Add(dims.begin(), dims.end());
    tensor->mutable_float_data()->Add(data.begin(), data.end());
    return tensor;
  }
  onnx::TensorProto* ints(const std::string& name, const std::vector<int64_t>& data) {
    auto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::INT64);
    tensor->add_dims(static_cast<int64_t>(data.size()));
    tensor->mutable_int64_data()->Add(data.begin(), data.end());
    return tensor;
  }
  onnx::NodeProto* node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::string& domain = "") {
    return add(graph(), op, inputs, outputs, domain);
  }
  static onnx::NodeProto* add(onnx::GraphProto& to, const std::string& op, const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs, const std::string& domain = "") {
    auto* node = to.add_node();
    node->set_op_type(op);
    node->set_domain(domain);
    for (const auto& name : inputs) node->add_input(name);
    for (const auto& name : outputs) node->add_output(name);
    return node;
  }
  std::string bytes() const { return proto.SerializeAsString(); }

  onnx::ModelProto proto;
};

inline Result<Model> load(const ProtoModel& model, const std::filesystem::path& folder = {}) {
  return import_bytes(model.bytes(), folder, "test.onnx");
}

/// The error message of reading the model; empty if there is none.
inline std::string error_of(const ProtoModel& model, const std::filesystem::path& folder = {}) {
  const auto loaded = load(model, folder);
  return loaded ? "" : loaded.error().message;
}

inline onnx::ModelProto exported(const Model& model) {
  const auto bytes = export_bytes(model);
  onnx::ModelProto proto;
  EXPECT_TRUE(bytes.has_value()) << (bytes ? "" : bytes.error().message);
  EXPECT_TRUE(bytes && proto.ParseFromString(*bytes));
  return proto;
}

/// Imports, exports, and imports again, and expects equal graphs. Returns the exported model.
inline onnx::ModelProto round_trip(const ProtoModel& model, const std::filesystem::path& folder = {}) {
  const auto first = load(model, folder);
  EXPECT_TRUE(first.has_value()) << (first ? "" : first.error().message);
  if (!first) return {};
  EXPECT_TRUE(verify_graph(first->graph).has_value());
  onnx::ModelProto out = exported(*first);
  const auto second = import_bytes(out.SerializeAsString(), folder, "again.onnx");
  EXPECT_TRUE(second.has_value()) << (second ? "" : second.error().message);
  EXPECT_EQ(print_graph(first->graph), second ? print_graph(second->graph) : "");
  return out;
}

inline const onnx::NodeProto* find_node(const onnx::GraphProto& graph, const std::string& op) {
  for (const auto& node : graph.node())
    if (node.op_type() == op) return &node;
  return nullptr;
}

}  // namespace isomer::test
