#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "isomer/base/temp_dir.h"
#include "isomer/cli/testing.h"
#include "isomer/eval/executor.h"
#include "isomer/ir/builder.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using testing::HasSubstr;
using testing::Not;

class GradTest : public testing::Test {
 protected:
  ValueId add(const char* name, const Attrs& attrs, std::initializer_list<ValueId> operands) {
    const auto value = builder_.add(op(name), attrs, operands);
    EXPECT_TRUE(value.has_value()) << (value ? "" : value.error().message);
    return *value;
  }
  ValueId named(ValueId value, const std::string& name) {
    builder_.name(value, name);
    return value;
  }
  std::string write(std::initializer_list<ValueId> outputs, int opset = 17) {
    Graph graph = builder_.finish(std::span<const ValueId>(outputs.begin(), outputs.size()));
    const auto status = export_model(make_model(std::move(graph), "test", opset), path("model.onnx"));
    EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().message);
    return path("model.onnx");
  }
  /// A model with two parameters, of which `w` matters to the loss.
  std::string linear_model() {
    const ValueId x = named(builder_.input({DType::Float, {2, 3}}), "x");
    const ValueId w = named(builder_.constant(Tensor::floats({3, 1}, {1, 2, 3})), "w");
    const ValueId b = named(builder_.constant(Tensor::floats({1}, {5})), "b");
    const ValueId product = add("MatMul", {}, {x, w});
    const ValueId loss = add("ReduceSumSquare", {{"axes", Ints{0, 1}}, {"keepdims", int64_t{0}}}, {product});
    const ValueId shifted = add("Add", {}, {product, b});
    return write({named(loss, "loss"), named(shifted, "y")});
  }
  std::string path(const char* file) const { return (folder_.path() / file).string(); }

  GraphBuilder builder_;
  const TempDir folder_ = TempDir::make().value();
};

TEST_F(GradTest, RaisesTheOpsetIfGradientsNeedIt) {
  const ValueId x = named(builder_.input({DType::Float, {1, 1, 4, 4}}), "x");
  const ValueId w = named(builder_.constant(Tensor::floats({1}, {2})), "w");
  const ValueId scaled = add("Mul", {}, {x, w});
  const Ints twos{2, 2};
  const ValueId largest =
      add("MaxPool", {{"kernel_shape", twos}, {"strides", twos}, {"pads", Ints{0, 0, 0, 0}}, {"dilations", Ints{1, 1}}},
          {scaled});
  const ValueId flat = add("Squeeze", {{"axes", Ints{0, 1}}}, {largest});
  const ValueId loss = add("ReduceSum", {{"axes", Ints{0, 1}}, {"keepdims", int64_t{0}}}, {flat});
  const Outcome outcome =
      isomer_program({"grad", write({named(loss, "loss")}, 11), "--loss", "loss", "-o", path("out.onnx")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\nopset: 16 instead of 11, which has not all operators of the gradients\n"));
  const auto model = import_model(path("out.onnx"));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(opset_of(*model), 16);
  std::vector<float> image(16);
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i);
  const std::vector<Tensor> inputs{Tensor::floats({1, 1, 4, 4}, image), Tensor::floats({1}, {2})};
  const auto outputs = run_reference(model->graph, inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ((*outputs)[0].data<float>()[0], 2 * (5 + 7 + 13 + 15));
  EXPECT_EQ((*outputs)[1].data<float>()[0], 5 + 7 + 13 + 15);
}

TEST_F(GradTest, AddsAnOutputForEachParameterThatMatters) {
  const Outcome outcome = isomer_program({"grad", linear_model(), "--loss", "loss", "-o", path("out.onnx")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("grad/w    f32[3,1]"));
  EXPECT_THAT(outcome.out, HasSubstr("the loss does not depend on 'b'"));
  EXPECT_THAT(outcome.out, HasSubstr("\nplain ONNX: all operators are ONNX's\n"));
  const auto model = import_model(path("out.onnx"));
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(model->graph.outputs().size(), 3U);
  EXPECT_EQ(output_name(*model, 2), "grad/w");
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < model->graph.inputs().size(); ++i) {
    const Tensor* preset = input_default(*model, i);
    inputs.push_back(preset != nullptr ? *preset : Tensor::floats({2, 3}, {1, 0, 0, 0, 1, 0}));
  }
  const auto outputs = run_reference(model->graph, inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  const auto gradient = (*outputs)[2].data<float>();
  EXPECT_EQ(std::vector<float>(gradient.begin(), gradient.end()), (std::vector<float>{2, 4, 0}));
}

TEST_F(GradTest, TrainsNumbersWithoutAxesOnRequest) {
  const ValueId x = named(builder_.input({DType::Float, {2}}), "x");
  const ValueId w = named(builder_.constant(Tensor::floats({2}, {3, 4})), "w");
  const ValueId s = named(builder_.constant(Tensor::floats({}, {0.5})), "s");
  const ValueId scaled = add("Mul", {}, {add("Mul", {}, {x, w}), s});
  const ValueId loss = add("ReduceSum", {{"axes", Ints{0}}, {"keepdims", int64_t{0}}}, {scaled});
  const std::string model = write({named(loss, "loss")});
  const Outcome plain = isomer_program({"grad", model, "--loss", "loss"});
  EXPECT_THAT(plain.out, HasSubstr("numbers without axes stay as they are, unless --wrt names them: 's'\n"));
  EXPECT_THAT(plain.out, Not(HasSubstr("grad/s")));
  const auto report =
      isomer_program({"grad", model, "--loss", "loss", "--wrt", "s", "-o", path("out.onnx"), "--json"}).report();
  ASSERT_EQ(report["gradients"].size(), 1U);
  EXPECT_EQ(report["gradients"][0]["type"], "f32[]");
  EXPECT_FALSE(report.contains("scalars"));
  const auto written = import_model(path("out.onnx"));
  ASSERT_TRUE(written) << written.error().message;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < written->graph.inputs().size(); ++i) {
    const Tensor* preset = input_default(*written, i);
    inputs.push_back(preset != nullptr ? *preset : Tensor::floats({2}, {1, 10}));
  }
  const auto outputs = run_reference(written->graph, inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ((*outputs)[1].data<float>()[0], 3 + 40);
}

TEST_F(GradTest, FixesExtents) {
  const ValueId x = named(builder_.input({DType::Float, {Dim::symbol("N"), 3}}), "x");
  const ValueId w = named(builder_.constant(Tensor::floats({3, 1}, {1, 2, 3})), "w");
  const ValueId product = add("MatMul", {}, {x, w});
  const ValueId loss = add("ReduceMean", {{"axes", Ints{0, 1}}, {"keepdims", int64_t{0}}}, {product});
  const std::string model = write({named(loss, "loss"), named(product, "y")});
  const Outcome without = isomer_program({"grad", model, "--loss", "loss"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("the extent N is not known; see --shape"));
  for (const char* const shape : {"N=2", "x:2,3"}) {
    const Outcome outcome = isomer_program({"grad", model, "--loss", "loss", "--shape", shape, "-o", path("out.onnx")});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto out = import_model(path("out.onnx"));
    ASSERT_TRUE(out) << out.error().message;
    const Graph& graph = out->graph;
    EXPECT_EQ(graph.type(graph.inputs()[0]).str(), "f32[2,3]");
    EXPECT_EQ(graph.type(graph.outputs()[1]).str(), "f32[2,1]");
    const std::vector<Tensor> inputs{Tensor::floats({2, 3}, {1, 0, 0, 3, 1, 0}), Tensor::floats({3, 1}, {1, 2, 3})};
    const auto outputs = run_reference(graph, inputs);
    ASSERT_TRUE(outputs) << outputs.error().message;
    const auto gradient = (*outputs)[2].data<float>();
    EXPECT_EQ(std::vector<float>(gradient.begin(), gradient.end()), (std::vector<float>{2, 0.5, 0}));
  }
  for (const char* const shape : {"M=2", "x:2,4", "y:2,3", "N"})
    EXPECT_EQ(isomer_program({"grad", model, "--loss", "loss", "--shape", shape}).exit_code, 2) << shape;
}

TEST_F(GradTest, ReportsAsJson) {
  const auto report = isomer_program({"grad", linear_model(), "--loss", "loss", "--inputs", "--json"}).report();
  EXPECT_EQ(report["schema"], "isomer.grad.v1");
  ASSERT_EQ(report["gradients"].size(), 2U);
  EXPECT_EQ(report["gradients"][0]["of"], "x");
  EXPECT_EQ(report["independent"], nlohmann::json::array({"b"}));
  EXPECT_EQ(report["other_operators"], nlohmann::json::array());
}

TEST_F(GradTest, TakesNamedValues) {
  const std::string model = linear_model();
  const auto report = isomer_program({"grad", model, "--loss", "loss", "--wrt", "x", "--json"}).report();
  ASSERT_EQ(report["gradients"].size(), 1U);
  EXPECT_EQ(report["gradients"][0]["output"], "grad/x");
  const Outcome unknown = isomer_program({"grad", model, "--loss", "loss", "--wrt", "z"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--wrt: the model has no parameter or input 'z'"));
}

TEST_F(GradTest, RefusesWhatHasNoGradientWithTheNode) {
  const Outcome vector = isomer_program({"grad", linear_model(), "--loss", "y"});
  EXPECT_EQ(vector.exit_code, 2);
  EXPECT_THAT(vector.err, HasSubstr("the loss must be one real number; node 'y' (Add) is f32[2,1]"));
  const Outcome missing = isomer_program({"grad", path("model.onnx"), "--loss", "los"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("model.onnx: --loss: the model has no output 'los'"));
}

TEST_F(GradTest, RefusesPathsThroughIntegersAndOperatorsWithoutGradient) {
  const Attrs all{{"axes", Ints{0}}, {"keepdims", int64_t{0}}};
  const ValueId x = named(builder_.input({DType::Float, {3}}), "x");
  const ValueId y = add("Mul", {}, {x, named(builder_.constant(Tensor::floats({3}, {1, 2, 3})), "w")});
  const ValueId integers = named(add("Cast", {{"to", int64_t{7}}}, {y}), "rounded");
  const ValueId loss = named(add("ReduceSum", all, {add("Cast", {{"to", int64_t{1}}}, {integers})}), "loss");
  const ValueId product = named(add("ReduceProd", all, {y}), "product");
  const std::string file = write({loss, product});
  const Outcome outcome = isomer_program({"grad", file, "--loss", "loss"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("node 'rounded' (Cast): no gradient: its result is i64[3]"));
  const Outcome none = isomer_program({"grad", file, "--loss", "product"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("node 'product' (ReduceProd): no gradient: the operator has no gradient"));
}

TEST_F(GradTest, RefusesALossThatDependsOnNothing) {
  const ValueId x = named(builder_.input({DType::Float, {}}), "x");
  const ValueId w = named(builder_.constant(Tensor::floats({1}, {2})), "w");
  const ValueId steps = add("Floor", {}, {w});  // constant almost everywhere
  const ValueId sum = add("ReduceSum", {{"axes", Ints{0}}, {"keepdims", int64_t{0}}}, {steps});
  const std::string file = write({named(add("Mul", {}, {x, sum}), "loss")});
  const Outcome outcome = isomer_program({"grad", file, "--loss", "loss", "-o", path("out.onnx")});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("model.onnx: the loss does not depend on 'w'"));
  EXPECT_FALSE(std::filesystem::exists(path("out.onnx")));
  EXPECT_EQ(isomer_program({"grad", file, "--loss", "loss", "--inputs"}).exit_code, 0);
}

TEST_F(GradTest, WritesATrainingStepOfAModel) {
  const Outcome outcome = isomer_program(
      {"grad", linear_model(), "--loss", "loss", "--optimizer", "sgd", "--rate", "0.5", "-o", path("step.onnx")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("new/w      f32[3,1]"));
  EXPECT_THAT(outcome.out, HasSubstr("the loss does not depend on 'b'"));
  const auto model = import_model(path("step.onnx"));
  ASSERT_TRUE(model) << model.error().message;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < model->graph.inputs().size(); ++i) {
    const Tensor* preset = input_default(*model, i);
    EXPECT_EQ(preset == nullptr, input_name(*model, i) == "x");
    inputs.push_back(preset != nullptr ? *preset : Tensor::floats({2, 3}, {1, 0, 0, 0, 1, 0}));
  }
  EXPECT_EQ(input_name(*model, inputs.size() - 1), "momentum/w");
  const auto outputs = run_reference(model->graph, inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  ASSERT_EQ(outputs->size(), 4U);
  EXPECT_EQ(output_name(*model, 2), "new/w");
  EXPECT_EQ(output_name(*model, 3), "new/momentum/w");
  const auto numbers = [&](size_t i) {
    const auto data = (*outputs)[i].data<float>();
    return std::vector<float>(data.begin(), data.end());
  };
  EXPECT_EQ(numbers(3), (std::vector<float>{2, 4, 0})) << "the gradient";
  EXPECT_EQ(numbers(2), (std::vector<float>{0, 0, 3})) << "1 - 0.5 * 2, 2 - 0.5 * 4, 3";
}

TEST_F(GradTest, RefusesOptionsThatMeanNothingTogether) {
  const std::string model = linear_model();
  const auto refused = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"grad", model, "--loss", "loss"});
    return isomer_program(arguments).exit_code == 2;
  };
  EXPECT_TRUE(refused({"--inputs", "--wrt", "x"}));
  EXPECT_TRUE(refused({"--inputs", "--optimizer", "sgd"}));
  EXPECT_TRUE(refused({"--rate", "0.1"}));
  EXPECT_TRUE(refused({"--optimizer", "sgd", "--rate", "0"}));
  EXPECT_TRUE(refused({"--optimizer", "newton"}));
  EXPECT_EQ(isomer_program({"models", "squeezenet", "-o", path("m.onnx"), "--optimizer", "adam"}).exit_code, 2);
  EXPECT_EQ(isomer_program({"models", "squeezenet", "-o", path("m.onnx"), "--rate", "1"}).exit_code, 2);
}

TEST_F(GradTest, WritesTrainingSteps) {
  const std::string file = path("step.onnx");
  const Outcome outcome =
      isomer_program({"models", "nasrnn", "-o", file, "--training", "--batch", "2", "--optimizer", "adam", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.report()["training"], true);
  EXPECT_TRUE(outcome.report()["other_operators"].empty());
  EXPECT_EQ(isomer_program({"models", "lstm", "-o", path("lstm.onnx"), "--training"}).out,
            "plain ONNX: all operators are ONNX's\n");
  const auto model = import_model(file);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(output_name(*model, 0), "loss");
  std::set<std::string> inputs;
  for (size_t i = 0; i < model->graph.inputs().size(); ++i) inputs.insert(input_name(*model, i));
  for (size_t i = 1; i < model->graph.outputs().size(); ++i) {
    const std::string name = output_name(*model, i);
    ASSERT_TRUE(name.starts_with("new/")) << name;
    EXPECT_TRUE(inputs.contains(name.substr(4))) << name;
  }
}

}  // namespace
}  // namespace isomer
