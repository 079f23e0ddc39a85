#include "isomer/onnx/import.h"

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/onnx/model_testing.h"

namespace isomer {
namespace {

using test::error_of;
using test::load;
using test::ProtoModel;

ProtoModel relu_model() {
  ProtoModel model;
  model.input("x", {"N", "3"});
  model.node("Relu", {"x"}, {"y"});
  model.output("y", {"N", "3"});
  return model;
}

size_t count(const Graph& graph, std::string_view op) {
  return static_cast<size_t>(
      std::count_if(graph.nodes().begin(), graph.nodes().end(), [&](const Node& node) { return node.op->name == op; }));
}

TEST(Import, ReadsKnownNodes) {
  const auto model = load(relu_model());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(print_graph(model->graph), "input v0: f32[N,3]\nv1 = Relu(v0)\nreturn v1\n");
  EXPECT_EQ(model->graph.name(model->graph.outputs()[0]), "y");
  EXPECT_EQ(opset_of(*model), 17);
  EXPECT_EQ(input_name(*model, 0), "x");
  EXPECT_EQ(output_name(*model, 0), "y");
}

TEST(Import, NamelessDimensionsAreSymbolsOfTheirOwn) {
  auto model = relu_model();
  auto* shape = model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(0)->clear_dim_param();
  shape->mutable_dim(1)->set_dim_param("batch size + 1");
  const auto read = load(model);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->graph.type(read->graph.inputs()[0]).str(), "f32[unnamed0,batch_size___1]");
}

TEST(Import, UnknownOperatorsAreOpaque) {
  auto model = relu_model();
  model.import("com.example", 3);
  model.node("Relu", {"x", "", "y"}, {"z", ""}, "com.example");
  model.output("z");
  const auto read = load(model);
  ASSERT_TRUE(read) << read.error().message;
  const Node& node = read->graph.producer_node(read->graph.outputs()[1]);
  ASSERT_TRUE(node.is_opaque());
  EXPECT_EQ(node.attrs.text("@op_type"), "Relu");
  EXPECT_EQ(node.attrs.integer("@opset"), 3);
  EXPECT_EQ(node.num_results, 2U);
  EXPECT_EQ(read->graph.operands(node)[1], kNoValue);
  EXPECT_EQ(read->graph.type(node.result()).str(), "f32[2]");
}

TEST(Import, OpaqueNodesAreNeverShared) {
  auto model = relu_model();
  model.import("com.example", 1);
  model.node("Random", {"x"}, {"a"}, "com.example");
  model.node("Random", {"x"}, {"b"}, "com.example");
  model.output("a");
  model.output("b");
  const auto read = load(model);
  ASSERT_TRUE(read);
  EXPECT_EQ(count(read->graph, "Opaque"), 2U);
}

TEST(Import, FunctionsOfTheModelWinOverOperators) {
  auto model = relu_model();
  auto* function = model.proto.add_functions();
  function->set_name("Relu");
  const auto read = load(model);
  ASSERT_TRUE(read);
  EXPECT_EQ(count(read->graph, "Opaque"), 1U);
}

TEST(Import, AContradictedElementTypeMakesANodeOpaque) {
  auto model = relu_model();
  model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::DOUBLE);
  const auto read = load(model);
  ASSERT_TRUE(read);
  EXPECT_EQ(count(read->graph, "Opaque"), 1U);
}

TEST(Import, ARunTimeShapeLeavesReshapeOpaqueWithItsAttributes) {
  ProtoModel model;
  model.input("x", {"2", "3"});
  ProtoModel::describe(model.graph().add_input(), "s", {"1"}, onnx::TensorProto::INT64);
  auto* attr = model.node("Reshape", {"x", "s"}, {"y"})->add_attribute();
  attr->set_name("allowzero");
  attr->set_type(onnx::AttributeProto::INT);
  attr->set_i(1);
  model.output("y", {"6"});
  const auto read = load(model);
  ASSERT_TRUE(read) << read.error().message;
  const Node& node = read->graph.producer_node(read->graph.outputs()[0]);
  ASSERT_TRUE(node.is_opaque());
  EXPECT_EQ(node.attrs.integer("allowzero"), 1);
  test::round_trip(model);
}

TEST(Import, AttributesOfALaterOpsetLeaveANodeOpaque) {
  for (const std::string name : {"dilations", "storage_order"}) {
    ProtoModel model(4, 4);
    model.input("x", {"1", "1", "4", "4"});
    onnx::NodeProto* node = model.node("MaxPool", {"x"}, {"y"});
    onnx::AttributeProto* kernel = node->add_attribute();
    kernel->set_name("kernel_shape");
    kernel->set_type(onnx::AttributeProto::INTS);
    for (int axis = 0; axis < 2; ++axis) kernel->add_ints(2);
    *node->add_attribute() = *kernel;
    onnx::AttributeProto* later = node->mutable_attribute(1);
    later->set_name(name);
    if (name == "storage_order") {
      later->clear_ints();
      later->set_type(onnx::AttributeProto::INT);
      later->set_i(1);
    }
    model.output("y", {"1", "1", "2", "2"});
    const auto read = load(model);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(read->graph.producer_node(read->graph.outputs()[0]).is_opaque()) << name;
    test::round_trip(model);
  }
}

TEST(Import, FoldsOnlyNumbersOnWhichEnginesAgree) {
  for (const float end : {3.0F, 3.4e38F}) {
    ProtoModel model;
    model.input("x", {"4"});
    model.floats("number", {1}, {end});
    model.ints("zero", {0});
    auto* to = model.node("Cast", {"number"}, {"end"})->add_attribute();
    to->set_name("to");
    to->set_type(onnx::AttributeProto::INT);
    to->set_i(onnx::TensorProto::INT64);
    model.node("Slice", {"x", "zero", "end"}, {"y"});
    model.output("y", {"M"});
    const auto read = load(model);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->graph.producer_node(read->graph.outputs()[0]).is_opaque(), end > 4) << end;
  }
}

TEST(Import, KnowsTheElementsOfEqualNodes) {
  ProtoModel model;
  model.input("x", {"2", "3"});
  for (const std::string i : {"1", "2"}) {
    model.node("Shape", {"x"}, {"shape" + i});
    model.node("Tile", {"x", "shape" + i}, {"y" + i});
    model.output("y" + i, {"4", "9"});
  }
  const auto read = load(model);
  ASSERT_TRUE(read) << read.error().message;
  for (const ValueId output : read->graph.outputs()) EXPECT_FALSE(read->graph.producer_node(output).is_opaque());
}

TEST(Import, FixesTheExtentsOfOneSymbolOnly) {
  ProtoModel model;
  model.input("a", {"n+1"});
  model.input("b", {"n-1"});
  model.node("Relu", {"a"}, {"y"});
  model.node("Relu", {"b"}, {"z"});
  model.output("y", {"n+1"});
  model.output("z", {"n-1"});
  const TempDir folder = TempDir::make().value();
  ASSERT_TRUE(write_file(folder.path() / "m.onnx", model.bytes()));
  const auto read =
      import_model(folder.path() / "m.onnx", {.shapes = {.inputs = {}, .symbols = {{"n_1", 4}, {"n_1_2", 7}}}});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->graph.type(read->graph.inputs()[0]).str(), "f32[4]");
  EXPECT_EQ(read->graph.type(read->graph.inputs()[1]).str(), "f32[7]");
}

TEST(Import, ParametersBecomeAttributesAndComeBackUnderTheirNames) {
  ProtoModel model;
  model.input("x", {"2", "3"});
  model.ints("target", {3, 2})->set_doc_string("why");
  model.node("Reshape", {"x", "target"}, {"y"});
  model.output("y", {"3", "2"});
  const auto out = test::round_trip(model);
  ASSERT_EQ(out.graph().initializer_size(), 1);
  EXPECT_EQ(out.graph().initializer(0).name(), "target");
  EXPECT_EQ(out.graph().initializer(0).doc_string(), "why");
  EXPECT_EQ(out.graph().node(0).input(1), "target");
}

TEST(Import, EqualImportsOfOneDomainAreAcceptedAndKept) {
  auto model = relu_model();
  for (const char* domain : {"", "ai.onnx"}) model.import(domain, 17);
  const auto out = test::round_trip(model);
  ASSERT_EQ(out.opset_import_size(), 3);
  EXPECT_EQ(out.opset_import(2).domain(), "ai.onnx");
}

TEST(Import, WhatCannotBeWrittenAtItsOpsetStaysOpaque) {
  // The extents after the axis are 1, so this is a Softmax along one axis. Opset 9 can express only the last axis.
  ProtoModel model(8, 9);
  model.input("x", {"1", "1000", "1", "1"});
  model.node("Softmax", {"x"}, {"y"})->set_name("prob");
  model.output("y", {"1", "1000", "1", "1"});
  const auto read = load(model);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->graph.producer_node(read->graph.outputs()[0]).is_opaque());
  const auto out = test::round_trip(model);
  EXPECT_EQ(out.graph().node(0).SerializeAsString(), model.graph().node(0).SerializeAsString());
}

TEST(Import, QuantizedRegionsStayAsTheyAre) {
  ProtoModel model;
  model.input("x", {"2"});
  model.floats("scale", {}, {0.5F});
  model.node("Relu", {"x"}, {"before"});
  model.node("Relu", {"before"}, {"next"});
  model.node("QuantizeLinear", {"next", "scale"}, {"q"});
  model.node("DequantizeLinear", {"q", "scale"}, {"d"});
  model.node("Relu", {"d"}, {"r1"});
  model.node("Sigmoid", {"r1"}, {"r2"});
  model.node("Relu", {"r2"}, {"r3"});
  model.node("QuantizeLinear", {"r3", "scale"}, {"q2"});
  model.node("DequantizeLinear", {"q2", "scale"}, {"d2"});
  model.node("Relu", {"d2"}, {"last"});
  model.node("Relu", {"last"}, {"y"});
  model.output("y");
  const auto read = load(model);
  ASSERT_TRUE(read) << read.error().message;
  // Known: "before", and "y" after the region. Quantization preserves extents, so the operand of "y" has a type.
  EXPECT_EQ(count(read->graph, "Relu"), 2U);
  EXPECT_EQ(count(read->graph, "Sigmoid"), 0U);
  test::round_trip(model);
}

TEST(Import, RefusesWhatIsNoModel) {
  const auto message = [](std::string_view bytes) {
    const auto model = import_bytes(bytes, {}, "bad.onnx");
    return model ? std::string() : model.error().message;
  };
  EXPECT_EQ(message(""), "bad.onnx: it is empty");
  EXPECT_THAT(message("<html>not a model</html>"), testing::StartsWith("bad.onnx: it is not an ONNX model"));
  const std::string good = relu_model().bytes();
  for (size_t size = 1; size < good.size(); ++size) {
    const auto cut = import_bytes(good.substr(0, size), {}, "cut.onnx");
    EXPECT_THAT(cut ? "cut.onnx: " : cut.error().message, testing::StartsWith("cut.onnx: "));
  }
}

TEST(Import, RefusesFolders) {
  const TempDir folder = TempDir::make().value();
  const auto model = import_model(folder.path());
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().message, folder.path().string() + ": is a directory");
  EXPECT_FALSE(import_model(folder.path() / "absent.onnx"));
}

TEST(Import, RefusesDeepNesting) {
  auto model = relu_model();
  auto* type = model.graph().add_value_info()->mutable_type();
  for (int depth = 0; depth < 200; ++depth) type = type->mutable_sequence_type()->mutable_elem_type();
  EXPECT_THAT(error_of(model), testing::HasSubstr("cannot be read"));
}

struct Broken {
  const char* name;
  void (*breakit)(ProtoModel&);
  const char* message;
};

class ImportErrors : public testing::TestWithParam<Broken> {};

TEST_P(ImportErrors, AreOneClearMessage) {
  auto model = relu_model();
  GetParam().breakit(model);
  EXPECT_EQ(error_of(model), std::string("test.onnx: ") + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, ImportErrors,
    testing::Values(
        Broken{"undefined", [](ProtoModel& m) { m.node("Relu", {"nowhere"}, {"z"})->set_name("n"); },
               "node 'n' (Relu): it uses 'nowhere', which is not defined"},
        Broken{"cyclic",
               [](ProtoModel& m) {
                 m.node("Relu", {"later"}, {"z"});
                 m.node("Relu", {"z"}, {"later"})->set_name("back");
               },
               "the graph is cyclic: node 'z' (Relu) uses node 'back' (Relu), which uses node 'z' (Relu)"},
        Broken{"itself", [](ProtoModel& m) { m.node("Relu", {"z"}, {"z"}); },
               "the graph is cyclic: node 'z' (Relu) uses node 'z' (Relu)"},
        Broken{"imports", [](ProtoModel& m) { m.import("ai.onnx", 11); },
               "the domain 'ai.onnx' is imported at versions 17 and 11"},
        Broken{"nothing", [](ProtoModel& m) { m.node("Relu", {"nowhere"}, {""}); },
               "node #1 (Relu): it uses 'nowhere', which is not defined"},
        Broken{"escape", [](ProtoModel& m) { m.node("Relu", {"\x1b[2J\nx"}, {"z"}); },
               "node 'z' (Relu): it uses '\\x1b[2J\\nx', which is not defined"},
        Broken{"twice", [](ProtoModel& m) { m.node("Relu", {"x"}, {"y"}); },
               "node 'y' (Relu): the value 'y' is defined twice"},
        Broken{"output", [](ProtoModel& m) { m.output("absent"); }, "the output 'absent' is not defined"},
        Broken{"input", [](ProtoModel& m) { m.input("x", {}); }, "the input 'x' is listed twice"},
        Broken{"version", [](ProtoModel& m) { m.proto.clear_ir_version(); },
               "it is not an ONNX model: it has no IR version"},
        Broken{"graph", [](ProtoModel& m) { m.proto.clear_graph(); }, "it is not an ONNX model: it has no graph"},
        Broken{"opset", [](ProtoModel& m) { m.proto.clear_opset_import(); }, "it imports no opset"},
        Broken{"domain", [](ProtoModel& m) { m.node("F", {"x"}, {"z"}, "com.example"); },
               "node 'z' (F): the model imports no opset of the domain 'com.example'"},
        Broken{"operator", [](ProtoModel& m) { m.node("", {"x"}, {"z"}); }, "node 'z' (): it has no operator"},
        Broken{"results",
               [](ProtoModel& m) {
                 m.node("Relu", {"x"}, {"z", "z2"});
               },
               "node 'z' (Relu): Relu has no 2 results"},
        Broken{"operands", [](ProtoModel& m) { m.node("Relu", {}, {"z"}); }, "node 'z' (Relu): Relu got 0 operands"},
        Broken{"extent", [](ProtoModel& m) { m.input("z", {"-2"}); }, "input 'z': it has the negative extent -2"},
        Broken{"huge",
               [](ProtoModel& m) {
                 m.input("z", {"1000000000000", "1000000000000"});
               },
               "input 'z': its extents are too large to address"},
        Broken{
            "type",
            [](ProtoModel& m) { m.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(99); },
            "input 'x': its element type 99 is not known"},
        Broken{"bytes",
               [](ProtoModel& m) {
                 m.floats("w", {3}, {1, 2});
               },
               "initializer 'w': it has 2 elements in a typed field, but its type needs 3"},
        Broken{"raw", [](ProtoModel& m) { m.floats("w", {3}, {})->set_raw_data("12345"); },
               "initializer 'w': it has 5 bytes of raw data, but its type needs 12"},
        Broken{"negative", [](ProtoModel& m) { m.floats("w", {-3}, {1}); },
               "initializer 'w': it has the negative extent -3"},
        Broken{"overflow",
               [](ProtoModel& m) {
                 m.floats("w", {int64_t{1} << 62, 4, 0}, {});
               },
               "initializer 'w': its extents are too large to address"},
        Broken{"nameless", [](ProtoModel& m) { m.floats("", {1}, {1}); }, "initializer '': a value has no name"},
        Broken{"redefined",
               [](ProtoModel& m) {
                 m.floats("w", {1}, {1});
                 m.floats("w", {1}, {1});
               },
               "initializer 'w': the value 'w' is defined twice"},
        Broken{"constant", [](ProtoModel& m) { m.node("Constant", {}, {"c"}); },
               "node 'c' (Constant): it has 0 attributes, but a constant has one"}),
    [](const auto& broken) { return broken.param.name; });

}  // namespace
}  // namespace isomer
