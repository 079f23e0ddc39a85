// Tests the types of nodes whose parameters are computed at run time, by importing models.

#include "isomer/onnx/dynamic_types.h"

#include "isomer/onnx/model_testing.h"

namespace isomer {
namespace {

using test::ProtoModel;

/// x: f32[N,3,S] and the integers n = [N] (known as an extent) and k (known only at run time).
ProtoModel model_of() {
  ProtoModel model;
  model.input("x", {"N", "3", "S"});
  ProtoModel::describe(model.graph().add_input(), "k", {"1"}, onnx::TensorProto::INT64);
  ProtoModel::describe(model.graph().add_input(), "three", {"3"}, onnx::TensorProto::INT64);
  ProtoModel::describe(model.graph().add_input(), "one", {}, onnx::TensorProto::INT64);
  model.ints("zero", {0});
  model.ints("two", {2});
  model.ints("three_axes", {0, 1, 2});
  model.node("Shape", {"x"}, {"extents"});
  model.node("Gather", {"extents", "zero"}, {"n"});
  model.node("Gather", {"extents", "two"}, {"s"});
  return model;
}

void set(onnx::NodeProto* node, const std::string& name, int64_t value) {
  auto* attr = node->add_attribute();
  attr->set_name(name);
  attr->set_type(onnx::AttributeProto::INT);
  attr->set_i(value);
}

/// The types of the model's outputs, which are declared without types. Known nodes are marked by an exclamation mark.
std::string types_of(ProtoModel model, const std::vector<std::string>& outputs) {
  for (const std::string& name : outputs) model.graph().add_output()->set_name(name);
  const auto read = test::load(model);
  if (!read) return read.error().message;
  EXPECT_TRUE(verify_graph(read->graph));
  const std::string text = print_graph(read->graph);
  std::string out;
  for (const ValueId value : read->graph.outputs())
    out += (out.empty() ? "" : " ") + read->graph.type(value).str() +
           (read->graph.producer_node(value).is_opaque() ? "" : "!");
  const auto again = test::load(model);
  EXPECT_EQ(text, print_graph(again->graph));
  return out;
}

/// The same for one node with one result.
std::string type_of(const std::string& op, const std::vector<std::string>& inputs,
                    const std::vector<std::pair<std::string, int64_t>>& attrs = {}) {
  ProtoModel model = model_of();
  auto* node = model.node(op, inputs, {"y"});
  for (const auto& [name, value] : attrs) set(node, name, value);
  return types_of(std::move(model), {"y"});
}

TEST(DynamicTypes, SlicesKeepTheirRank) {
  EXPECT_EQ(type_of("Slice", {"x", "zero", "n", "two"}), "f32[N,3,min(N,S)]");
  EXPECT_EQ(type_of("Slice", {"x", "k", "n", "two"}), "f32[N,3,?0]");
  EXPECT_EQ(type_of("Slice", {"x", "zero", "n", "k"}), "f32[?0,?1,?2]");
  EXPECT_EQ(type_of("Slice", {"x", "zero", "n", "two", "k"}), "f32[N,3,?0]");
}

TEST(DynamicTypes, ASliceOfAllIsKnown) {
  EXPECT_EQ(type_of("Slice", {"x", "zero", "s", "two"}), "f32[N,3,S]!");
  ProtoModel model = model_of();
  model.ints("all", {INT64_MAX});
  model.node("Neg", {"s"}, {"back"});
  model.node("Slice", {"x", "back", "all", "two"}, {"y"});
  EXPECT_EQ(types_of(std::move(model), {"y"}), "f32[N,3,S]!");
}

TEST(DynamicTypes, ComputedShapesSayTheRank) {
  EXPECT_EQ(type_of("Reshape", {"x", "three"}), "f32[?0,?1,?2]");
  EXPECT_EQ(type_of("Expand", {"x", "three"}), "f32[?0,3,?1]");
  EXPECT_EQ(type_of("ConstantOfShape", {"extents"}), "f32[N,3,S]");
  EXPECT_EQ(type_of("ConstantOfShape", {"k"}), "f32[?0]");
  EXPECT_EQ(type_of("Tile", {"x", "three"}), "f32[?0,?1,?2]");
  EXPECT_EQ(type_of("Tile", {"x", "extents"}), "f32[N*N,9,S*S]");
  EXPECT_EQ(type_of("Unsqueeze", {"x", "k"}), "f32[?0,?1,?2,?3]");
  EXPECT_EQ(type_of("Squeeze", {"x", "k"}), "f32[?0,?1]");
  EXPECT_EQ(type_of("ReduceSum", {"x", "k"}), "f32[?0,?1,?2]");
  EXPECT_EQ(type_of("ReduceSum", {"x", "k"}, {{"keepdims", 0}}), "f32[?0,?1]");
}

TEST(DynamicTypes, ExtentsFollowFromShapes) {
  ProtoModel model = model_of();
  model.ints("rest", {-1});
  set(model.node("Concat", {"rest", "s"}, {"to"}), "axis", 0);
  model.node("Reshape", {"x", "to"}, {"reshaped"});
  model.node("Expand", {"three_axes", "s"}, {"expanded"});
  EXPECT_EQ(types_of(std::move(model), {"reshaped", "expanded"}), "f32[3*N,S] i64[3]");
}

TEST(DynamicTypes, RangesHaveOneAxis) {
  ProtoModel model = model_of();
  model.node("Squeeze", {"n", "zero"}, {"limit"});
  model.node("Squeeze", {"zero", "zero"}, {"start"});
  model.node("Squeeze", {"two", "zero"}, {"step"});
  model.node("Range", {"start", "limit", "step"}, {"known"});
  model.node("Range", {"start", "one", "step"}, {"unknown"});
  EXPECT_EQ(types_of(std::move(model), {"known", "unknown"}), "i64[-floor(-N/2)] i64[?0]");
}

TEST(DynamicTypes, ResultsThatDependOnDataHaveSymbolsOfTheirOwn) {
  EXPECT_EQ(type_of("NonZero", {"x"}), "i64[3,?0]");
  EXPECT_EQ(type_of("Compress", {"x", "k"}), "f32[?0]");
  ProtoModel model = model_of();
  set(model.node("TopK", {"x", "k"}, {"values", "indices"}), "axis", 0);
  set(model.node("TopK", {"x", "s"}, {"more", ""}), "axis", -1);
  EXPECT_EQ(types_of(std::move(model), {"values", "indices", "more"}), "f32[?0,3,S] i64[?1,3,S] f32[N,3,S]");
}

TEST(DynamicTypes, WhatFollowsIsKnown) {
  ProtoModel model = model_of();
  model.node("Slice", {"x", "k", "n", "two"}, {"part"});
  model.node("Relu", {"part"}, {"y"});
  EXPECT_EQ(types_of(std::move(model), {"y"}), "f32[N,3,?0]!");
}

TEST(DynamicTypes, DeclaredExtentsReplaceUnknownOnesAlone) {
  ProtoModel model = model_of();
  model.node("Slice", {"x", "k", "n", "two"}, {"y"});
  ProtoModel::describe(model.graph().add_value_info(), "y", {"M", "4", "L"});
  EXPECT_EQ(types_of(model, {"y"}), "f32[N,3,L]");
  model.graph().clear_value_info();
  ProtoModel::describe(model.graph().add_value_info(), "y", {"M", "4", "L"}, onnx::TensorProto::INT64);
  EXPECT_EQ(types_of(model, {"y"}), "i64[M,4,L]");
}

TEST(DynamicTypes, NoTensorIsTooLargeToAddress) {
  const auto fresh = [] { return Dim::symbol("?"); };
  const PartialType huge{DType::Float, PartialType::Extents{Dim(Dim::kHuge), Dim(2)}};
  EXPECT_FALSE(completed(huge, nullptr, fresh).known());
  const PartialType negative{DType::Float, PartialType::Extents{Dim(-1)}};
  EXPECT_FALSE(completed(negative, nullptr, fresh).known());
}

}  // namespace
}  // namespace isomer
