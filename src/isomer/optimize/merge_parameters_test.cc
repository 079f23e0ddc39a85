#include "isomer/optimize/merge_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/certificate/merge_inputs.h"
#include "isomer/certificate/merge_inputs_testing.h"
#include "isomer/certificate/verify_files.h"
#include "isomer/eval/compare.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/optimize/optimize.h"

namespace isomer {
namespace {

using ::testing::ElementsAre;

/// A step of a graph in which each input NAME with an output named new_NAME is state, with ones as default.
Model step_of(const std::string& text) {
  const Graph graph = parse_graph(text, find_op).value();
  Model model = make_model(graph, "step", 17);
  std::vector<Port> inputs, outputs;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const std::string name = output_name(model, i);
    outputs.push_back({name.starts_with("new_") ? "new/" + name.substr(4) : name});
  }
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const auto& type = graph.type(graph.inputs()[i]);
    const bool state = std::ranges::find(outputs, "new/" + input_name(model, i), &Port::name) != outputs.end();
    inputs.push_back({input_name(model, i), state ? Tensor::zeros(type.dtype, *concrete(*type.shape)) : Tensor()});
  }
  std::vector<Tensor> defaults;
  for (const Port& port : inputs) defaults.push_back(port.preset);
  return with_defaults(with_ports(model, graph, inputs, outputs).value(), defaults);
}

/// The merged inputs: "axis: part part".
std::vector<std::string> merged_of(const Model& model) {
  const auto merged = merge_parameters(model);
  EXPECT_TRUE(merged.has_value()) << merged.error().message;
  std::vector<std::string> out;
  if (!merged || !*merged) return out;
  for (const MergedInput& one : (*merged)->merged) {
    out.push_back(fmt::format("{}:", one.axis));
    for (const std::string& part : one.parts) out.back() += " " + part;
  }
  const auto again = replay::merge_inputs(model, (*merged)->merged);
  EXPECT_TRUE(again.has_value()) << again.error().message;
  if (!again) return out;
  EXPECT_EQ(again->graph.hash(), (*merged)->model.graph.hash());
  const auto same = replay::same_model(*again, again->graph, (*merged)->model);
  EXPECT_TRUE(same.has_value()) << same.error().message;
  return out;
}

TEST(MergeParameters, FindsProductsOfTheSameDataAndTheirState) {
  EXPECT_THAT(merged_of(replay::testing::small_step()), ElementsAre("1: a b", "1: ma mb"));
}

TEST(MergeParameters, BiasesFollowTheirWeights) {
  EXPECT_THAT(merged_of(step_of(R"(
    input x: f32[4,2]
    input a: f32[2,3]
    input b: f32[2,5]
    input c: f32[3]
    input d: f32[5]
    p = MatMul(x, a)
    q = MatMul(x, b)
    y = Add(p, c)
    z = Add(d, q)
    new_a = Neg(a)
    new_b = Neg(b)
    new_c = Neg(c)
    new_d = Neg(d)
    return y, z, new_a, new_b, new_c, new_d)")),
              ElementsAre("1: a b", "0: c d"));
}

TEST(MergeParameters, KnowTheAxisOfEachKindOfWeight) {
  EXPECT_THAT(merged_of(step_of(R"(
    input x: f32[4,2]
    input i: f32[1,2,5,5]
    input a: f32[3,2]
    input b: f32[5,2]
    input c: f32[3,2]
    input d: f32[5,2]
    input e: f32[4,2,3,3]
    input f: f32[6,2,3,3]
    at = Transpose(a) {perm=[1,0]}
    bt = Transpose(b) {perm=[1,0]}
    p = MatMul(x, at)
    q = MatMul(x, bt)
    r = Gemm(x, c) {transB=1}
    s = Gemm(x, d) {transB=1}
    t = Conv(i, e) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    u = Conv(i, f) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    new_a = Neg(a)
    new_b = Neg(b)
    new_c = Neg(c)
    new_d = Neg(d)
    new_e = Neg(e)
    new_f = Neg(f)
    return p, q, r, s, t, u, new_a, new_b, new_c, new_d, new_e, new_f)")),
              ElementsAre("0: a b", "0: c d", "0: e f"));
}

TEST(MergeParameters, LeavesAloneWhatCannotBeMerged) {
  EXPECT_THAT(merged_of(step_of(R"(
    input x: f32[4,2]
    input y: f32[4,2]
    input i: f32[1,2,5,5]
    input a: f32[2,3]
    input b: f32[2,5]
    input c: f32[2,3]
    input e: f32[4,1,3,3]
    input f: f32[6,1,3,3]
    input g: f32[4,2,3,3]
    input h: f32[4,2,1,1]
    p = MatMul(x, a)
    q = MatMul(y, b)
    r = MatMul(x, c)
    t = Conv(i, e) {group=2, strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    u = Conv(i, f) {group=2, strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    v = Conv(i, g) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    w = Conv(i, h) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    new_a = Neg(a)
    new_b = Neg(b)
    new_e = Neg(e)
    new_f = Neg(f)
    new_g = Neg(g)
    new_h = Neg(h)
    return p, q, r, t, u, v, w, new_a, new_b, new_e, new_f, new_g, new_h)")),
              ElementsAre())
      << "other data, no state, groups, other windows";
}

TEST(MergeParameters, AParameterIsMergedOnce) {
  EXPECT_THAT(merged_of(step_of(R"(
    input x: f32[4,2]
    input y: f32[4,2]
    input a: f32[2,3]
    input b: f32[2,3]
    input c: f32[2,3]
    p = MatMul(x, a)
    q = MatMul(x, b)
    r = MatMul(y, b)
    s = MatMul(y, c)
    t = MatMul(y, a)
    new_a = Neg(a)
    new_b = Neg(b)
    new_c = Neg(c)
    return p, q, r, s, t, new_a, new_b, new_c)")),
              ElementsAre("1: a b"));
}

TEST(MergeParameters, StateMustBeUsedInTheSameWay) {
  const auto merged = [&](const std::string& second) {
    return merged_of(step_of(R"(
    input x: f32[4,2]
    input a: f32[2,3]
    input b: f32[2,3]
    input ma: f32[2,3]
    input mb: f32[2,3]
    p = MatMul(x, a)
    q = MatMul(x, b)
    new_ma = Neg(ma)
    new_mb = Neg(mb)
    new_a = Add(a, new_ma)
    new_b = )" + second + "\nreturn p, q, new_a, new_b, new_ma, new_mb"));
  };
  EXPECT_THAT(merged("Add(b, new_mb)"), ElementsAre("1: a b", "1: ma mb"));
  EXPECT_THAT(merged("Sub(b, new_mb)"), ElementsAre("1: a b"));
  EXPECT_THAT(merged("Add(b, new_ma)"), ElementsAre("1: a b"));
}

/// Optimizes a step under the roofline model, where a kernel takes 5 us.
Result<OptimizeReport> optimized(const TempDir& folder, const Model& step) {
  OptimizeOptions options;
  options.input = folder.path() / "step.onnx";
  options.output = folder.path() / "out.onnx";
  options.certificate = folder.path() / "out.cert";
  options.costs.engine = "roofline";
  options.merge_parameters = true;
  ISOMER_CHECK(export_model(step, options.input));
  return optimize(options);
}

TEST(MergeParameters, NewInputsHaveFreeNames) {
  const Model step = step_of(R"(
    input x: f32[4,2]
    input a: f32[2,3]
    input b: f32[2,3]
    p = MatMul(x, a)
    merged/a = MatMul(x, b)
    new_merged/a_2 = Add(p, merged/a)
    new_a = Neg(a)
    new_b = Neg(b)
    return merged/a, new_merged/a_2, new_a, new_b)");
  EXPECT_THAT(merged_of(step), ElementsAre("1: a b"));
  EXPECT_EQ((*merge_parameters(step))->merged[0].input, "merged/a_3");
}

TEST(MergeParameters, StateMustHaveTheSameTypes) {
  EXPECT_THAT(merged_of(step_of(R"(
    input x: f32[4,2]
    input a: f32[2,3]
    input b: f32[2,3]
    input ma: f32[1,3]
    input mb: f32[2,3]
    input na: f16[2,3]
    input nb: f32[2,3]
    p = MatMul(x, a)
    q = MatMul(x, b)
    ca = Cast(na) {to=1}
    cb = Cast(nb) {to=1}
    sa = Add(a, ma)
    sb = Add(b, mb)
    new_a = Add(sa, ca)
    new_b = Add(sb, cb)
    new_ma = Neg(ma)
    new_mb = Neg(mb)
    new_na = Neg(na)
    new_nb = Neg(nb)
    return p, q, new_a, new_b, new_ma, new_mb, new_na, new_nb)")),
              ElementsAre("1: a b"));
}

TEST(MergeParameters, OptimizedStepsAreCertified) {
  const TempDir folder = TempDir::make().value();
  const Model step = replay::testing::small_step();
  const auto report = optimized(folder, step);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  ASSERT_EQ(report->merged.size(), 2U) << report->outcome;
  EXPECT_EQ(report->merged[1].input, "merged/ma");
  const auto found = replay::verify_certificate(folder.path() / "out.cert", folder.path() / "step.onnx",
                                                folder.path() / "out.onnx", builtin_lock().value());
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->problem, "");
  EXPECT_EQ(found->certificate.merged, report->merged);
  std::map<std::string, int> ops;
  for (const Node& node : found->output.graph.nodes())
    if (!node.is_input() && !node.is_constant()) ++ops[node.op->name];
  EXPECT_EQ(ops["Split"] + ops["Concat"], 1) << "the results of the product are split";
  EXPECT_EQ(ops["Sub"], 1);

  const auto before = replay::testing::steps_of(step, 10), after = replay::testing::steps_of(found->output, 10);
  for (size_t i = 0; i < before.size(); ++i) {
    const auto expected = replay::merge_outputs(step, report->merged, before[i]);
    ASSERT_TRUE(expected.has_value()) << expected.error().message;
    EXPECT_LT(compare_outputs(after[i], *expected, {1e-5, 0})->max_rel(), 1e-5) << "step " << i;
  }
}

TEST(MergeParameters, CertificatesWithOtherMergedInputsDoNotHold) {
  const TempDir folder = TempDir::make().value();
  ASSERT_TRUE(optimized(folder, replay::testing::small_step()).has_value());
  const auto text = read_file(folder.path() / "out.cert").value();
  const auto problem = [&](const std::function<void(replay::Certificate&)>& change) {
    auto certificate = replay::parse_certificate(text).value();
    change(certificate);
    EXPECT_TRUE(write_file(folder.path() / "out.cert", replay::print_certificate(certificate)).has_value());
    return replay::verify_certificate(folder.path() / "out.cert", folder.path() / "step.onnx",
                                      folder.path() / "out.onnx", builtin_lock().value())
        ->problem;
  };
  EXPECT_EQ(problem([](auto&) {}), "");
  EXPECT_NE(problem([](auto& c) { c.merged.clear(); }), "");
  EXPECT_NE(problem([](auto& c) { c.merged.pop_back(); }), "");
  EXPECT_NE(problem([](auto& c) { std::swap(c.merged[0].input, c.merged[1].input); }), "");
  EXPECT_NE(problem([](auto& c) { std::ranges::reverse(c.merged[0].parts); }), "");
  EXPECT_NE(problem([](auto& c) { std::swap(c.merged[0].parts, c.merged[1].parts); }), "") << "momenta for parameters";
}

TEST(MergeParameters, SaysThatThereAreNone) {
  const TempDir folder = TempDir::make().value();
  const auto report = optimized(folder, step_of("input x: f32[2]\ny = Neg(x)\nreturn y"));
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->merged.empty());
  EXPECT_THAT(report->search.notes, ElementsAre(::testing::StartsWith("no parameters can be merged")));
}

}  // namespace
}  // namespace isomer
