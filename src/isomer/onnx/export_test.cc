#include "isomer/onnx/export.h"

#include <sys/stat.h>

#include <map>
#include <set>
#include <thread>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/ir/label.h"
#include "isomer/onnx/model_testing.h"

namespace isomer {
namespace {

using test::load;
using test::ProtoModel;

std::vector<std::string> output_names(const onnx::GraphProto& graph) {
  std::vector<std::string> names;
  for (const auto& output : graph.output()) names.push_back(output.name());
  return names;
}

TEST(Export, KeepsWhatStandsBesideTheGraph) {
  ProtoModel model(9, 18);
  model.proto.set_producer_name("somebody");
  model.proto.set_doc_string("about the model");
  model.graph().set_doc_string("about the graph");
  model.import("com.example", 2);
  auto* entry = model.proto.add_metadata_props();
  entry->set_key("k");
  entry->set_value("v");
  model.input("x", {"N"});
  model.graph().mutable_input(0)->set_doc_string("about x");
  auto* node = model.node("Relu", {"x"}, {"hidden"});
  node->set_name("the relu");
  node->set_doc_string("about the relu");
  ProtoModel::describe(model.graph().add_value_info(), "hidden", {"N"});
  ProtoModel::describe(model.graph().add_value_info(), "gone", {"N"});
  model.node("Mystery", {"hidden"}, {"y"}, "com.example")->add_attribute()->set_name("flag");
  model.output("y", {"N"});
  const auto out = test::round_trip(model);
  EXPECT_EQ(out.ir_version(), 9);
  EXPECT_EQ(out.producer_name(), "somebody");
  EXPECT_EQ(out.doc_string(), "about the model");
  EXPECT_EQ(out.graph().doc_string(), "about the graph");
  EXPECT_EQ(out.metadata_props(0).value(), "v");
  EXPECT_EQ(out.opset_import_size(), 2);
  EXPECT_EQ(out.graph().input(0).SerializeAsString(), model.graph().input(0).SerializeAsString());
  ASSERT_EQ(out.graph().node_size(), 2);
  EXPECT_EQ(out.graph().node(0).name(), "the relu");
  EXPECT_EQ(out.graph().node(0).doc_string(), "about the relu");
  EXPECT_EQ(out.graph().node(1).SerializeAsString(), model.graph().node(1).SerializeAsString());
  ASSERT_EQ(out.graph().value_info_size(), 1);
  EXPECT_EQ(out.graph().value_info(0).name(), "hidden");
}

TEST(Export, OneValueMayBeManyOutputs) {
  ProtoModel model;
  model.input("x", {"2"});
  model.input("unused", {"2"});
  model.node("Relu", {"x"}, {"a"});
  model.node("Relu", {"x"}, {"b"});  // equal, so that a and b are the same value
  for (const char* name : {"a", "b", "a", "x"}) model.output(name);
  const auto read = load(model);
  ASSERT_TRUE(read) << read.error().message;
  const auto out = test::exported(*read);
  EXPECT_EQ(output_names(out.graph()), (std::vector<std::string>{"a", "b", "a", "x"}));
  EXPECT_EQ(out.graph().input_size(), 2);
  ASSERT_NE(test::find_node(out.graph(), "Identity"), nullptr);
  EXPECT_EQ(test::find_node(out.graph(), "Identity")->output(0), "b");
  EXPECT_TRUE(import_bytes(out.SerializeAsString(), {}, "again"));
}

TEST(Export, AConstantMayBeAnOutput) {
  ProtoModel model;
  model.floats("w", {2}, {1, 2});
  model.output("w");
  const auto out = test::round_trip(model);
  EXPECT_EQ(out.graph().initializer(0).name(), "w");
  EXPECT_EQ(out.graph().node_size(), 0);
}

/// Adds a conditional node whose branches use `captured`.
void add_if(ProtoModel& model, const std::string& captured, const std::string& result) {
  auto* node = model.node("If", {"c"}, {result});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* attr = node->add_attribute();
    attr->set_name(name);
    attr->set_type(onnx::AttributeProto::GRAPH);
    attr->mutable_g()->set_name(name);
    const std::string inner = result + "_" + name;
    ProtoModel::add(*attr->mutable_g(), "Relu", {captured}, {inner});
    ProtoModel::describe(attr->mutable_g()->add_output(), inner, {"2"});
  }
}

TEST(Export, CapturedValuesKeepTheNamesThatSubgraphsUse) {
  ProtoModel model;
  ProtoModel::describe(model.graph().add_input(), "c", {}, onnx::TensorProto::BOOL);
  model.input("x", {"2"});
  model.node("Relu", {"x"}, {"a"});
  model.node("Relu", {"x"}, {"b"});
  add_if(model, "a", "y");
  add_if(model, "b", "z");
  model.output("y");
  model.output("z");
  const auto read = load(model);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->graph.nodes().size(), 5U);  // c, x, one Relu, two If
  const auto out = test::exported(*read);
  ASSERT_EQ(out.graph().node_size(), 4);
  EXPECT_EQ(out.graph().node(0).output(0), "a");
  EXPECT_EQ(out.graph().node(1).op_type(), "Identity");
  EXPECT_EQ(out.graph().node(1).output(0), "b");
  EXPECT_EQ(out.graph().node(2).SerializeAsString(), model.graph().node(2).SerializeAsString());
  EXPECT_TRUE(import_bytes(out.SerializeAsString(), {}, "again"));
}

TEST(Export, GeneratedNamesOccurNowhereInTheModel) {
  ProtoModel model;
  ProtoModel::describe(model.graph().add_input(), "c", {}, onnx::TensorProto::BOOL);
  model.input("x", {"2"});
  add_if(model, "x", "y");
  auto* inner = model.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
  ProtoModel::add(*inner, "Relu", {"x"}, {"Sigmoid_0"});
  model.output("y");
  const auto read = load(model);
  ASSERT_TRUE(read) << read.error().message;
  // A rewrite inserts a nameless Sigmoid before the If.
  GraphBuilder builder(read->graph.name_table());
  const ValueId c = builder.input(read->graph.type(read->graph.inputs()[0]));
  const ValueId x = builder.input(read->graph.type(read->graph.inputs()[1]));
  const ValueId sigmoid = *builder.add(op("Sigmoid"), {}, {x});
  const Node& conditional = read->graph.producer_node(read->graph.outputs()[0]);
  const NodeId id = *builder.copy(read->graph, conditional, std::vector<ValueId>{c, sigmoid});
  const std::vector<ValueId> outputs = {builder.at(id).result()};
  const auto out = test::exported(read->with(builder.finish(outputs)));
  // "x" is the name of the input, so the capture must be renamed in the If.
  ASSERT_EQ(out.graph().node_size(), 2);
  EXPECT_NE(out.graph().node(0).output(0), "Sigmoid_0");
  EXPECT_EQ(out.graph().node(1).attribute(0).g().node(0).input(0), out.graph().node(0).output(0));
  EXPECT_TRUE(import_bytes(out.SerializeAsString(), {}, "again"));
}

TEST(Export, OldModelsListInitializersAmongInputs) {
  ProtoModel model(3, 8);
  model.input("x", {"1", "2"});
  model.input("w", {"2"});
  model.floats("w", {2}, {1, 2});
  model.import("com.example", 1);
  model.node("Mystery", {"x", "w"}, {"h"}, "com.example");
  model.node("Reshape", {"x", "s"}, {"y"});
  model.ints("s", {2});
  model.output("y");
  model.output("h");
  const auto read = load(model);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->graph.inputs().size(), 1U);
  const auto out = test::round_trip(model);
  ASSERT_EQ(out.graph().input_size(), 3);
  EXPECT_EQ(out.graph().input(0).name(), "x");
  EXPECT_EQ(out.graph().input(1).name(), "w");
  EXPECT_EQ(out.graph().input(2).name(), "s");
}

TEST(Import, DefaultsFitTheirInputs) {
  const auto error = [](const std::vector<std::string>& dims, int dtype = onnx::TensorProto::FLOAT) {
    ProtoModel model;
    model.input("x", {"2"});
    ProtoModel::describe(model.graph().add_input(), "w", dims, dtype);
    model.output("y");
    model.floats("w", {2}, {1, 2});
    model.node("Mul", {"x", "w"}, {"y"});
    return error_of(model);
  };
  EXPECT_EQ(error({"2"}), "");
  EXPECT_EQ(error({"N"}), "");
  EXPECT_EQ(error({"3"}), "test.onnx: input 'w' is f32[3], but its initializer is f32[2]");
  EXPECT_EQ(error({"1", "2"}), "test.onnx: input 'w' is f32[1,2], but its initializer is f32[2]");
  EXPECT_EQ(error({"2"}, onnx::TensorProto::DOUBLE), "test.onnx: input 'w' is f64[2], but its initializer is f32[2]");
}

TEST(Export, OverridableInitializersStayInputsWithDefaults) {
  ProtoModel model(8, 17);
  model.input("x", {"2"});
  model.input("w", {"2"});
  model.floats("w", {2}, {1, 2});
  model.import("com.example", 1);
  model.node("Mystery", {"x", "w"}, {"y"}, "com.example");
  model.output("y");
  const auto read = load(model);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->graph.inputs().size(), 2U);
  const auto out = test::round_trip(model);
  EXPECT_EQ(out.graph().input_size(), 2);
  ASSERT_EQ(out.graph().initializer_size(), 1);
  EXPECT_EQ(out.graph().initializer(0).name(), "w");
  EXPECT_EQ(out.graph().initializer(0).raw_data().size(), 8U);
}

TEST(Export, SparseInitializersComeBack) {
  ProtoModel model;
  model.input("x", {"2"});
  auto* sparse = model.graph().add_sparse_initializer();
  sparse->add_dims(4);
  auto* values = sparse->mutable_values();
  values->set_name("w");
  values->set_data_type(onnx::TensorProto::FLOAT);
  values->add_dims(1);
  values->add_float_data(5);
  auto* indices = sparse->mutable_indices();
  indices->set_data_type(onnx::TensorProto::INT64);
  indices->add_dims(1);
  indices->add_int64_data(2);
  model.import("com.example", 1);
  model.node("Mystery", {"x", "w"}, {"y"}, "com.example");
  model.output("y");
  const Model read = test::load(model).value();
  const Node& weight = read.graph.producer_node(read.graph.operands(read.graph.nodes().back())[1]);
  EXPECT_EQ(op_label(weight), "sparse initializer");
  const auto out = test::round_trip(model);
  ASSERT_EQ(out.graph().sparse_initializer_size(), 1);
  EXPECT_EQ(out.graph().sparse_initializer(0).SerializeAsString(),
            model.graph().sparse_initializer(0).SerializeAsString());
}

std::vector<std::string> attribute_names(const onnx::NodeProto& node) {
  std::vector<std::string> names;
  for (const auto& attr : node.attribute()) names.push_back(attr.name());
  return names;
}

ProtoModel same_pool() {
  ProtoModel model;
  model.input("x", {"1", "1", "5", "5"});
  auto* node = model.node("MaxPool", {"x"}, {"y"});
  auto* kernel = node->add_attribute();
  kernel->set_name("kernel_shape");
  kernel->set_type(onnx::AttributeProto::INTS);
  for (int axis = 0; axis < 2; ++axis) kernel->add_ints(3);
  auto* pad = node->add_attribute();
  pad->set_name("auto_pad");
  pad->set_type(onnx::AttributeProto::STRING);
  pad->set_s("SAME_UPPER");
  model.output("y", {"1", "1", "5", "5"});
  return model;
}

TEST(Export, NodesThatNoRewriteChangedAreWrittenAsTheyWere) {
  const auto out = test::round_trip(same_pool());
  EXPECT_THAT(attribute_names(out.graph().node(0)), testing::UnorderedElementsAre("auto_pad", "kernel_shape"));
}

TEST(Export, ANodeOfOtherOperandsIsNotWrittenAsTheModelWroteIt) {
  // A rewrite computes the value "y" from another input, for which the model's "SAME_UPPER" would give other pads.
  const auto read = load(same_pool());
  ASSERT_TRUE(read) << read.error().message;
  const ValueId old = read->graph.outputs()[0];
  GraphBuilder builder(read->graph.name_table());
  const ValueId x = builder.input({DType::Float, {1, 1, 7, 7}});
  const ValueId y = *builder.add(op("MaxPool"), read->graph.producer_node(old).attrs, {x});
  builder.set_origin(y, read->graph.origin(old));
  const std::vector<ValueId> outputs = {y};
  const auto out = test::exported(read->with(builder.finish(outputs)));
  EXPECT_THAT(attribute_names(out.graph().node(0)), testing::Contains("pads"));
  EXPECT_THAT(attribute_names(out.graph().node(0)), testing::Not(testing::Contains("auto_pad")));
}

TEST(Export, HandMadeGraphsBecomeModels) {
  const auto graph = parse_graph(
      "input x: f32[1,N]\nw = f32[2]{1,2}\ny = Transpose(x) {perm=[1,0]}\nz = Reshape(x) {shape=[-1]}\n"
      "return y, z, w, x\n",
      find_op);
  ASSERT_TRUE(graph) << graph.error().message;
  for (const int opset : {7, 13, 21}) {
    const Model model = make_model(*graph, "hand", opset);
    const auto bytes = export_bytes(model);
    ASSERT_TRUE(bytes) << bytes.error().message;
    const auto again = import_bytes(*bytes, {}, "again");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->graph.hash(), graph->hash());
    EXPECT_EQ(output_name(*again, 0), "y");
  }
}

TEST(Export, RefusesWhatTheOpsetCannotSay) {
  const auto graph = parse_graph("input x: f32[2]\ny = Reshape(x) {shape=[2], allowzero=1}\nreturn y\n", find_op);
  ASSERT_TRUE(graph) << graph.error().message;
  const Model model = make_model(*graph, "hand", 9);
  EXPECT_FALSE(exportable(model, *graph));
  EXPECT_FALSE(export_bytes(model));
  EXPECT_TRUE(exportable(make_model(*graph, "hand", 14), *graph));
}

/// A model with two weights of 3000 elements, the first of them `first`, ...
Model model_with_weights(float first) {
  ProtoModel model;
  model.input("x", {"2"});
  model.floats("small", {2}, {1, 2});
  std::vector<float> many(3000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = first + static_cast<float>(i);
  model.floats("large", {3000}, many);
  model.floats("other", {3000}, std::vector<float>(3000, 2));
  model.import("com.example", 1);
  model.node("Mystery", {"x", "small", "large", "other"}, {"y"}, "com.example");
  model.output("y");
  return load(model).value();
}

/// The only ".data" file in the folder.
std::filesystem::path data_file(const std::filesystem::path& folder) {
  std::filesystem::path found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".data") continue;
    EXPECT_TRUE(found.empty()) << found << " and " << entry.path();
    found = entry.path();
  }
  return found;
}

TEST(Export, WritesWeightsOutsideWhenTheyAreLarge) {
  const TempDir folder = TempDir::make().value();
  const Model model = model_with_weights(0);
  const auto path = folder.path() / "out.onnx";
  ASSERT_TRUE(export_model(model, path, {.external_above = 1000}));
  EXPECT_EQ(std::filesystem::file_size(data_file(folder.path())), 12288U + 12000U);
  const auto again = import_model(path);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(print_graph(again->graph), print_graph(model.graph));
  // Overwrites the old file while it is mapped.
  const auto status = export_model(*again, path, {.external_above = 1000});
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(print_graph(again->graph), print_graph(import_model(path)->graph));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
  EXPECT_FALSE(export_model(*again, folder.path()));
  EXPECT_FALSE(export_model(*again, folder.path() / "absent/out.onnx"));
}

TEST(Export, APipeGetsAllWeightsInside) {
  const TempDir folder = TempDir::make().value();
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_file(pipe).value(); });
  const auto status = export_model(model_with_weights(0), pipe, {.external_above = 1000});
  reader.join();
  ASSERT_TRUE(status) << status.error().message;
  const auto again = import_bytes(got, folder.path(), "pipe");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->graph.hash(), model_with_weights(0).graph.hash());
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Export, FollowsALinkAndLeavesDataWhereTheyAreFoundFromIt) {
  const TempDir folder = TempDir::make().value();
  std::filesystem::create_directory(folder.path() / "store");
  const auto link = folder.path() / "out.onnx";
  std::filesystem::create_symlink("store/real.onnx", link);
  ASSERT_TRUE(export_model(model_with_weights(0), link, {.external_above = 1000}));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::is_regular_file(folder.path() / "store/real.onnx"));
  const auto again = import_model(link);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->graph.hash(), model_with_weights(0).graph.hash());
}

TEST(Export, TouchesNoExternalDataOfOtherModels) {
  const TempDir folder = TempDir::make().value();
  const auto path = folder.path() / "out.onnx";
  const Model model = model_with_weights(0);
  ASSERT_TRUE(export_model(model, path, {.external_above = 1000}));
  // Simulates an interruption just before the last step, and a model that shares the data.
  std::filesystem::copy_file(path, folder.path() / "copy.onnx");
  ASSERT_TRUE(export_model(model_with_weights(1), path, {.external_above = 1000}));
  const auto copy = import_model(folder.path() / "copy.onnx");
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(copy->graph.hash(), model.graph.hash());
  EXPECT_NE(import_model(path)->graph.hash(), model.graph.hash());
}

/// y = x + w + v, where `trained` names the one that training changes.
ProtoModel trained_model(const std::string& trained) {
  ProtoModel model;
  model.input("x", {"2"});
  model.floats("w", {2}, {1, 2});
  model.floats("v", {2}, {3, 4});
  model.floats("unused", {2}, {5, 6});
  model.node("Add", {"w", "v"}, {"sum"});
  model.node("Add", {"x", "sum"}, {"y"});
  model.output("y");
  auto* training = model.proto.add_training_info();
  auto* algorithm = training->mutable_algorithm();
  algorithm->set_name("step");
  ProtoModel::add(*algorithm, "Neg", {trained}, {"param_0"});
  ProtoModel::describe(algorithm->add_output(), "param_0", {"2"});
  auto* binding = training->add_update_binding();
  binding->set_key(trained);
  binding->set_value("param_0");
  return model;
}

TEST(Export, InitializersThatTrainingChangesStayWhatTheyAre) {
  for (const std::string trained : {"w", "unused"}) {
    const ProtoModel model = trained_model(trained);
    const auto read = load(model);
    ASSERT_TRUE(read) << read.error().message;
    // w + v is not a constant if training changes w.
    EXPECT_EQ(read->graph.is_constant_derived(read->graph.operands(read->graph.nodes().back())[1]), trained != "w");
    const auto out = test::round_trip(model);
    EXPECT_EQ(out.training_info(0).SerializeAsString(), model.proto.training_info(0).SerializeAsString());
    std::map<std::string, std::string> elements;
    for (const auto& tensor : out.graph().initializer())
      EXPECT_TRUE(elements.emplace(tensor.name(), tensor.raw_data()).second) << tensor.name();
    const float w[] = {1, 2}, unused[] = {5, 6};
    EXPECT_EQ(elements[trained], std::string(reinterpret_cast<const char*>(trained == "w" ? w : unused), sizeof w));
    EXPECT_EQ(out.graph().input_size(), 1);
  }
}

TEST(Export, KeepsInitializersThatOnlyAnnotationsName) {
  ProtoModel model;
  model.input("x", {"2"});
  model.floats("scale", {}, {0.5F});
  model.node("Relu", {"x"}, {"y"});
  model.output("y");
  auto* annotation = model.graph().add_quantization_annotation();
  annotation->set_tensor_name("x");
  auto* parameter = annotation->add_quant_parameter_tensor_names();
  parameter->set_key("SCALE_TENSOR");
  parameter->set_value("scale");
  const auto out = test::round_trip(model);
  ASSERT_EQ(out.graph().initializer_size(), 1);
  EXPECT_EQ(out.graph().initializer(0).name(), "scale");
}

TEST(Export, ATrainedInitializerKeepsItsNameBesideOthers) {
  ProtoModel model = trained_model("w");
  model.node("Identity", {"w"}, {"z"});  // z and w are the same value
  model.floats("same", {2}, {1, 2});     // equal to w, but not trained
  model.node("Identity", {"same"}, {"s"});
  model.output("z");
  model.output("s");
  const auto read = load(model);
  ASSERT_TRUE(read) << read.error().message;
  const auto out = test::exported(*read);
  EXPECT_EQ(output_names(out.graph()), (std::vector<std::string>{"y", "z", "s"}));
  std::set<std::string> names;
  for (const auto& tensor : out.graph().initializer()) names.insert(tensor.name());
  EXPECT_TRUE(names.contains("w"));
  for (const auto& node : out.graph().node()) EXPECT_NE(node.output(0), "w");
  EXPECT_TRUE(import_bytes(out.SerializeAsString(), {}, "again"));
}

}  // namespace
}  // namespace isomer
