#include "isomer/onnx/parameters.h"

#include "isomer/onnx/content.h"
#include "isomer/onnx/defaults.h"
#include "isomer/onnx/model_testing.h"

namespace isomer::test {
namespace {

using testing::ElementsAre;

/// Import with parameters as inputs.
Result<Model> load_trainable(const ProtoModel& model) {
  return import_bytes(model.bytes(), {}, "test.onnx", {.parameters_as_inputs = true});
}

std::vector<std::string> input_names(const Model& model) {
  std::vector<std::string> names;
  for (size_t i = 0; i < model.graph.inputs().size(); ++i) names.push_back(input_name(model, i));
  return names;
}

/// y = relu(x + a) + b, where a and b are equal.
ProtoModel two_equal_parameters(int64_t ir_version = 8) {
  ProtoModel model(ir_version, 10);
  model.input("x", {"N", "2"});
  model.floats("a", {2}, {0, 0});
  model.floats("b", {2}, {0, 0});
  model.node("Add", {"x", "a"}, {"s"});
  model.node("Relu", {"s"}, {"r"});
  model.node("Add", {"r", "b"}, {"y"});
  model.output("y", {"N", "2"});
  return model;
}

TEST(Parameters, AreInputsWithDefaults) {
  const auto model = load_trainable(two_equal_parameters());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(input_names(*model), ElementsAre("x", "a", "b"));
  EXPECT_EQ(input_default(*model, 0), nullptr);
  ASSERT_NE(input_default(*model, 1), nullptr);
  EXPECT_EQ(input_default(*model, 1)->dims(), std::vector<int64_t>{2});
  const Model changed = with_defaults(*model, std::vector{Tensor::zeros(DType::Float, {1, 2}), Tensor(), Tensor()});
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(model->graph.producer_node(model->graph.inputs()[i]).is_parameter(), i > 0);
    EXPECT_EQ(changed.graph.producer_node(changed.graph.inputs()[i]).is_parameter(), i == 0);
  }
  EXPECT_THAT(input_names(*load(two_equal_parameters())), ElementsAre("x"));
}

TEST(Parameters, OfOldModelsAreTheOnlyInitializersAmongTheInputs) {
  ProtoModel old = two_equal_parameters(3);
  old.ints("shape", {-1});
  old.node("Reshape", {"y", "shape"}, {"z"});
  old.output("z", {"M"});
  old.input("a", {"2"});
  old.input("b", {"2"});
  ProtoModel::describe(old.graph().add_input(), "shape", {"1"}, onnx::TensorProto::INT64);
  const auto model = load_trainable(old);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(input_names(*model), ElementsAre("x", "a", "b"));
  EXPECT_EQ(exported(*model).ir_version(), 4);
}

TEST(Parameters, AreNeitherScalarsNorStatisticsNorSettings) {
  ProtoModel proto;
  proto.input("x", {"1", "1", "2", "2"});
  for (const char* name : {"scale", "shift", "mean", "var"}) proto.floats(name, {1}, {1});
  proto.node("BatchNormalization", {"x", "scale", "shift", "mean", "var"}, {"normal"});
  proto.floats("scales", {4}, {1, 1, 2, 2});
  proto.node("Resize", {"normal", "", "scales"}, {"large"});
  proto.floats("half", {}, {0.5F});
  proto.node("Mul", {"large", "half"}, {"y"});
  proto.floats("unused", {1}, {1});
  proto.output("y", {"1", "1", "4", "4"});
  const auto model = load_trainable(proto);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(input_names(*model), ElementsAre("x", "scale", "shift"));
}

TEST(Parameters, StayInputsOfTheWrittenModel) {
  const auto model = load_trainable(two_equal_parameters());
  ASSERT_TRUE(model) << model.error().message;
  const onnx::ModelProto written = exported(*model);
  EXPECT_EQ(written.graph().input_size(), 3);
  EXPECT_EQ(written.graph().initializer_size(), 2);
}

TEST(Models, HaveMoreOutputs) {
  const auto model = load(two_equal_parameters());
  ASSERT_TRUE(model) << model.error().message;
  GraphBuilder builder;
  const ValueId x = builder.input(model->graph.type(model->graph.inputs()[0]));
  const std::vector<ValueId> outputs{*builder.add(op("Relu"), {}, {x}), x};
  const Graph graph = builder.finish(outputs);
  const std::vector<std::string> names{"more"};
  const auto more = with_more_outputs(*model, graph, names);
  ASSERT_TRUE(more) << more.error().message;
  EXPECT_EQ(exported(*more).graph().output(1).name(), "more");
  GraphBuilder wider;
  std::vector<ValueId> inputs;
  for (const ValueId input : model->graph.inputs()) inputs.push_back(wider.input(model->graph.type(input)));
  inputs.push_back(wider.input({DType::Float, {2}}));
  const std::vector<ValueId> results{*wider.add(op("Relu"), {}, {inputs[0]}), inputs.back()};
  const std::vector<std::string> state{"state"};
  const auto with_input = with_more_outputs(*model, wider.finish(results), names, state);
  ASSERT_TRUE(with_input) << with_input.error().message;
  EXPECT_EQ(input_name(*with_input, inputs.size() - 1), "state");
  const std::vector<std::string> taken{"s"};
  EXPECT_FALSE(with_more_outputs(*model, graph, taken));
}

/// y = clip(x, lo, hi) * scale + shift + lo, where scale and shift are equal.
ProtoModel with_scalars() {
  ProtoModel model(8, 13);
  model.input("x", {"2"});
  for (const char* const name : {"lo", "hi", "scale", "shift"}) model.floats(name, {}, {name[0] == 's' ? 2.0F : 1.0F});
  model.node("Clip", {"x", "lo", "hi"}, {"c"});
  model.node("Mul", {"c", "scale"}, {"m"});
  model.node("Add", {"m", "shift"}, {"a"});
  model.node("Add", {"a", "lo"}, {"y"});
  model.output("y", {"2"});
  return model;
}

TEST(Parameters, WithoutAxesAreListedAndTakenOnRequest) {
  const auto model = load_trainable(with_scalars());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(input_names(*model), ElementsAre("x"));
  EXPECT_THAT(untrained_scalars(*model), ElementsAre("scale", "shift")) << "lo describes an operator";
  const auto one = import_bytes(with_scalars().bytes(), {}, "test.onnx",
                                {.parameters_as_inputs = true, .scalars = {"shift", "lo", "x"}});
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_THAT(input_names(*one), ElementsAre("x", "shift"));
  EXPECT_THAT(untrained_scalars(*one), ElementsAre("scale"));
  ProtoModel given = with_scalars();
  given.input("scale", {});
  const auto listed = load_trainable(given);
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_THAT(input_names(*listed), ElementsAre("x", "scale"));
  EXPECT_THAT(untrained_scalars(*listed), ElementsAre("shift"));
}

TEST(Parameters, FunctionsAndDefaultsAreCompared) {
  const Model model = load_trainable(two_equal_parameters()).value();
  const Model again = load_trainable(two_equal_parameters()).value();
  EXPECT_TRUE(same_functions_and_defaults(model, again));
  const Tensor other = Tensor::floats({2}, {0, 1});
  EXPECT_FALSE(same_functions_and_defaults(model, with_defaults(again, std::vector{Tensor(), other, other})));
  EXPECT_FALSE(same_functions_and_defaults(model, load(two_equal_parameters()).value()));
}

}  // namespace
}  // namespace isomer::test
