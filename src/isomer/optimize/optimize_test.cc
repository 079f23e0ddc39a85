#include "isomer/optimize/optimize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/cost/tunings.h"
#include "isomer/ir/text.h"
#include "isomer/models/models.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/ops/registry.h"
#include "isomer/optimize/rule_set.h"
#include "isomer/plan/stored_decisions.h"
#include "isomer/report/page_data.h"

namespace isomer {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class Optimize : public ::testing::Test {
 protected:
  /// Options for a benchmark network, written to a temporary folder, under the roofline model.
  OptimizeOptions network(const std::string& name) {
    OptimizeOptions options;
    options.input = folder_.path() / (name + ".onnx");
    options.output = folder_.path() / (name + ".out.onnx");
    options.costs.engine = "roofline";
    const auto graph = build_model(name);
    EXPECT_TRUE(graph.has_value());
    EXPECT_TRUE(export_model(make_model(*graph, name, 17), options.input).has_value());
    return options;
  }

  /// Ends the search after a number of candidates instead of a time, so that it does not depend on the speed of the
  /// machine.
  static void limit_candidates(OptimizeOptions& options) {
    options.search.time_budget_seconds = 1e6;
    options.search.max_candidates = 20;
  }

  static std::vector<std::string> rules_of(const OptimizeReport& report) {
    std::vector<std::string> rules;
    for (const SearchStep& step : report.search.steps) rules.push_back(step.rule);
    return rules;
  }

  TempDir folder_ = TempDir::make().value();
};

// The trace of a search on a fixed model. It changes only with the rules; the commit that changes it says why.
TEST_F(Optimize, ReplaysItsSearchOnAnSru) {
  const OptimizeOptions options = network("sru-11");
  const auto report = optimize(options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->improved);
  EXPECT_THAT(rules_of(*report), ElementsAre("factor-add"));
  double sum = 0;
  for (const SearchStep& step : report->search.steps) sum += step.delta;
  EXPECT_NEAR(report->cost_after->latency_us - report->cost_before->latency_us, sum, 1e-6);
}

TEST_F(Optimize, KeepsDetailsThatAgreeWithTheFigures) {
  OptimizeOptions options = network("sru-11");
  options.details = true;
  const auto report = optimize(options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const auto total_us = [](const std::vector<PlannedKernel>& kernels) {
    double sum = 0;
    for (const PlannedKernel& kernel : kernels) sum += kernel.us;
    return sum;
  };
  EXPECT_NEAR(total_us(report->details->kernels_before), report->cost_before->latency_us, 1e-6);
  EXPECT_NEAR(total_us(report->details->kernels_after), report->cost_after->latency_us, 1e-6);
  const auto nodes = page_data(*report)["sides"]["after"]["nodes"];
  int64_t counted = 0;
  for (const auto& [op, count] : report->ops_after) counted += count;
  EXPECT_EQ(std::ranges::count(nodes, "op", [](const auto& node) { return node["kind"]; }), counted);
  EXPECT_THAT(report->details->rules, SizeIs(report->search.steps.size()));
}

TEST_F(Optimize, TwiceIsOnce) {
  OptimizeOptions options = network("sru-11");
  ASSERT_TRUE(optimize(options).has_value());
  options.input = options.output;
  options.output = folder_.path() / "twice.onnx";
  const auto again = optimize(options);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_FALSE(again->improved);
  EXPECT_EQ(read_file(options.output).value(), read_file(options.input).value());
}

TEST_F(Optimize, ReturnsTheInputByteForByteWhereNothingHelps) {
  OptimizeOptions options = network("sru-11");
  const RuleSet all = usable_rules("", {}).value();
  for (const Rule& rule : all.rules) options.skip_rules.push_back(rule.name);
  const auto report = optimize(options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_FALSE(report->improved);
  EXPECT_THAT(report->outcome, HasSubstr("the output is the input"));
  EXPECT_EQ(read_file(options.output).value(), read_file(options.input).value());
}

TEST_F(Optimize, ConfirmsOnAnEngine) {
  OptimizeOptions options = network("sru-11");
  options.costs.engine = "ort";
  options.search.time_budget_seconds = 5;
  options.confirm = {.warmup = 1, .min_runs = 3, .max_runs = 3, .seconds = 0};
  const auto report = optimize(options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const auto json = to_json(*report);
  EXPECT_EQ(json["schema"], "isomer.optimize.v1");
  for (const char* key :
       {"model", "engine", "device", "options", "search", "cost", "measured", "steps", "equivalence", "ops"})
    EXPECT_TRUE(json.contains(key)) << key;
  if (report->equivalence) {
    EXPECT_TRUE(report->equivalence->holds);
    EXPECT_LE(report->equivalence->max_rel, 1e-4);
  }
  EXPECT_TRUE(import_model(options.output).has_value());
  EXPECT_THAT(summary(*report), HasSubstr("operators"));
}

TEST_F(Optimize, ConfirmsOnTheBuiltInRuntime) {
  OptimizeOptions options = network("sru-11");
  options.costs.engine = "onednn";
  limit_candidates(options);
  options.confirm = {.warmup = 1, .min_runs = 3, .max_runs = 3, .seconds = 0};
  const auto report = optimize(options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->cost_before.has_value());
  EXPECT_GT(report->search.candidates, 0);
  if (report->equivalence) {
    EXPECT_TRUE(report->equivalence->holds) << report->equivalence->problem;
  }
  EXPECT_TRUE(import_model(options.output).has_value());
}

TEST_F(Optimize, ReportsTheLossOfReducedPrecision) {
  if (!make_engine("onednn", {.dtype = DType::BFloat16})) GTEST_SKIP() << "no bf16 here";
  OptimizeOptions options = network("sru-11");
  options.costs.engine = "onednn";
  options.costs.engine_options.dtype = DType::BFloat16;
  options.search.time_budget_seconds = 5;
  options.confirm = {.warmup = 1, .min_runs = 3, .max_runs = 3, .seconds = 0};
  const auto report = optimize(options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  ASSERT_TRUE(report->equivalence.has_value());
  EXPECT_LE(report->equivalence->max_rel, 1e-4) << "judged in f32";
  const auto json = to_json(*report);
  EXPECT_EQ(json["options"]["dtype"], "bf16");
  EXPECT_THAT(json["engine_version"], HasSubstr("bf16"));
  const double loss = json["equivalence"]["precision"]["max_rel"];
  EXPECT_GT(loss, 1e-4);
  EXPECT_LT(loss, 0.1);
  EXPECT_THAT(summary(*report), HasSubstr("precision  bf16: within"));
}

TEST_F(Optimize, RefusesBadOptionsAndNamesThem) {
  OptimizeOptions options = network("sru-11");
  const auto message = [&](const OptimizeOptions& bad) {
    const auto report = optimize(bad);
    return report ? "" : report.error().message;
  };
  OptimizeOptions bad = options;
  bad.output = bad.input;
  EXPECT_THAT(message(bad), HasSubstr("sru-11.onnx"));
  bad = options;
  bad.skip_rules = {"no-such-rule"};
  EXPECT_THAT(message(bad), HasSubstr("no-such-rule"));
  bad = options;
  bad.search.alpha = std::nan("");
  EXPECT_THAT(message(bad), HasSubstr("alpha: must be a finite number of at least 1"));
  bad = options;
  bad.search.time_budget_seconds = std::numeric_limits<double>::infinity();
  EXPECT_THAT(message(bad), HasSubstr("time_budget: must be a number from 0 to 1e+09"));
  bad = options;
  bad.tolerance = -std::nan("");
  EXPECT_THAT(message(bad), HasSubstr("tolerance: must be a finite number of at least 0"));
  bad = options;
  bad.search.search = "magic";
  EXPECT_THAT(
      message(bad),
      HasSubstr("search: must be auto, greedy, autograph, backtrack, beam, sample, saturate, enumerate, prune or dpp"));
  bad = options;
  bad.input = folder_.path() / "missing.onnx";
  EXPECT_THAT(message(bad), HasSubstr("missing.onnx"));
  bad = options;
  ASSERT_TRUE(
      write_file(folder_.path() / "false.rules", "rule wrong (Sub ?x ?y) => (Sub ?y ?x) where real(?x)").has_value());
  bad.rules_file = folder_.path() / "false.rules";
  EXPECT_THAT(message(bad), HasSubstr("'wrong' is refuted"));
}

// No axiom describes a running sum, so nothing about it can be proved.
TEST_F(Optimize, HandsOutWhatIsProvedUnlessToldOtherwise) {
  OptimizeOptions options = network("sru-11");
  const Graph graph = parse_graph(R"(
    input a: f32[64,64]
    input b: f32[64,64]
    s = CumSum(a) {axis=0}
    t = CumSum(b) {axis=0}
    u = Add(s, t)
    p = Mul(u, a)
    q = Mul(u, b)
    r = Add(p, q)
    return r)",
                                  find_op)
                          .value();
  ASSERT_TRUE(export_model(make_model(graph, "sums", 17), options.input).has_value());
  options.rules_file = folder_.path() / "own.rules";
  ASSERT_TRUE(write_file(options.rules_file, R"(
    rule join-running-sums (Add (CumSum ..c ?x) (CumSum ..c ?y)) => (CumSum ..c (Add ?x ?y))
      where shape(?x) == shape(?y) and real(?x)
    rule factor (Add (Mul ?u ?a) (Mul ?u ?b)) => (Mul ?u (Add ?a ?b))
      where shape(?a) == shape(?b) and shape(?u) == shape(?a) and real(?u))")
                  .has_value());
  const auto proved = optimize(options);
  ASSERT_TRUE(proved.has_value()) << proved.error().message;
  EXPECT_THAT(rules_of(*proved), ElementsAre("factor"));
  EXPECT_EQ(proved->verdicts.at("factor"), "proved");
  EXPECT_EQ(proved->proofs.searches, 2);
  EXPECT_TRUE(proved->proofs.not_proved.contains("join-running-sums"));
  EXPECT_EQ(to_json(*proved)["proofs"]["not_proved"][0]["rule"], "join-running-sums");
  EXPECT_THAT(summary(*proved), HasSubstr("without rules of which an application is not proved: join-running-sums"));
  options.allow_tested = true;
  const auto tested = optimize(options);
  ASSERT_TRUE(tested.has_value()) << tested.error().message;
  EXPECT_THAT(rules_of(*tested), UnorderedElementsAre("factor", "join-running-sums"));
  EXPECT_EQ(tested->verdicts.at("join-running-sums"), "tested");
  EXPECT_EQ(tested->proofs.searches, 1);
}

TEST_F(Optimize, ObjectiveAndLimitDecide) {
  OptimizeOptions options = network("sru-11");
  options.objective = Objective::parse("flops").value();
  const auto fewer = optimize(options);
  ASSERT_TRUE(fewer.has_value()) << fewer.error().message;
  EXPECT_TRUE(fewer->improved);
  EXPECT_LT(fewer->cost_after->flops, fewer->cost_before->flops);
}

// The transposes cancel. Merged, the products take one kernel less, but their results are live at the same time.
constexpr std::string_view kThreeProducts = R"(
  input x: f32[8,64]
  u = f32[64,256]{seed 1}
  v = f32[64,256]{seed 2}
  w = f32[64,256]{seed 3}
  t = Transpose(x) {perm=[1,0]}
  s = Transpose(t) {perm=[1,0]}
  a = MatMul(s, u)
  d = ReduceMax(a) {axes=[1]}
  b = MatMul(s, v)
  e = ReduceMax(b) {axes=[1]}
  c = MatMul(s, w)
  f = ReduceMax(c) {axes=[1]}
  return d, e, f)";

TEST_F(Optimize, TakesTheFastestGraphWithinTheLimit) {
  for (const char* search : {"auto", "greedy", "backtrack"}) {
    OptimizeOptions options = network("sru-11");
    ASSERT_TRUE(export_model(make_model(parse_graph(kThreeProducts, find_op).value(), "products", 17), options.input)
                    .has_value());
    options.search.search = search;
    const auto fastest = optimize(options);
    ASSERT_TRUE(fastest.has_value()) << fastest.error().message;
    const double model_bytes = fastest->cost_before->peak_bytes;
    ASSERT_GT(fastest->cost_after->peak_bytes, model_bytes);
    ASSERT_TRUE(options.objective.add_limit(fmt::format("peak_bytes <= {}", model_bytes)).has_value());
    const auto limited = optimize(options);
    ASSERT_TRUE(limited.has_value()) << limited.error().message;
    EXPECT_TRUE(limited->improved) << search;
    EXPECT_EQ(limited->within_limits, true);
    EXPECT_LE(limited->cost_after->peak_bytes, model_bytes);
    EXPECT_LT(limited->cost_after->latency_us, limited->cost_before->latency_us);
    EXPECT_GT(limited->cost_after->latency_us, fastest->cost_after->latency_us);
  }
}

// Without the concatenated tensor, the model needs one more kernel and a third less memory.
constexpr std::string_view kWide = R"(
  input x: f32[1,4,16,16]
  w = f32[1,16,3,3]{seed 1}
  a = Relu(x)
  b = Sigmoid(x)
  c = Tanh(x)
  d = Abs(x)
  j = Concat(a, b, c, d) {axis=1}
  y = Conv(j, w) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
  return y)";

TEST_F(Optimize, ASlowerGraphIsTakenWhereTheModelExceedsTheLimit) {
  OptimizeOptions options = network("sru-11");
  options.input = folder_.path() / "wide.onnx";
  options.output = folder_.path() / "wide.out.onnx";
  ASSERT_TRUE(export_model(make_model(parse_graph(kWide, find_op).value(), "wide", 17), options.input).has_value());
  const auto free = optimize(options);
  ASSERT_TRUE(free.has_value()) << free.error().message;
  const Metrics model = *free->cost_before;
  for (const char* search : {"auto", "greedy", "backtrack"}) {
    options.search.search = search;
    options.objective = Objective();
    ASSERT_TRUE(options.objective.add_limit(fmt::format("peak_bytes <= {}", model.peak_bytes - 1)).has_value());
    const auto report = optimize(options);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_TRUE(report->improved) << search << ": " << report->outcome;
    EXPECT_EQ(report->within_limits, true) << search;
    EXPECT_LT(report->cost_after->peak_bytes, model.peak_bytes);
    EXPECT_GT(report->cost_after->latency_us, model.latency_us);
    EXPECT_THAT(report->outcome, HasSubstr("within the limits, which the model exceeds"));
  }
}

/// Returns the layouts in which the built-in runtime makes or puts a value in a run of a model file.
std::vector<std::string> layouts_in(const std::filesystem::path& file, const std::string& value) {
  const auto engine = make_engine("onednn").value();
  const SessionId session = engine->load(file).value();
  Trace trace("run");
  const NamedTensor input{input_name(import_model(file).value(), 0), Tensor::zeros(DType::Float, {1, 32, 8, 8})};
  EXPECT_TRUE(engine->run_traced(session, {&input, 1}, trace, 0).has_value());
  std::vector<std::string> layouts;
  for (const TraceSpan& span : trace.spans())
    if (const std::map notes(span.notes.begin(), span.notes.end());
        notes.contains("result") && notes.at("result") == TraceNotes::value_type::second_type(value))
      layouts.push_back(std::get<std::string>(notes.at("layout")));
  return layouts;
}

/// The decision is about a value downstream of the step.
TEST_F(Optimize, KeepsTheDecisionsOfTheModelAndTheRuntimeObeysThem) {
  OptimizeOptions options;
  options.input = folder_.path() / "decided.onnx";
  options.output = folder_.path() / "decided.out.onnx";
  options.certificate = folder_.path() / "decided.cert";
  options.costs.engine = "roofline";
  const Graph graph = parse_graph(R"(
    input x: f32[1,32,8,8]
    w = f32[32,32,3,3]{seed 1}
    v = f32[32,32,3,3]{seed 2}
    a = Transpose(x) {perm=[0,1,3,2]}
    b = Transpose(a) {perm=[0,1,3,2]}
    c = Conv(b, w) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
    d = Relu(c)
    e = Conv(d, v) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
    return e)",
                                  find_op)
                          .value();
  const Model model = make_model(graph, "decided", 17);
  ASSERT_TRUE(export_model(model, options.input).has_value());
  EXPECT_THAT(layouts_in(options.input, "d"), ::testing::AllOf(Not(IsEmpty()), Not(Contains("plain"))));
  const auto input_of = [&](ValueId value) { return graph.operands(graph.producer_node(value))[0]; };
  const ValueId between = input_of(graph.outputs()[0]);
  const ValueId transposed = input_of(input_of(input_of(between)));
  const Candidate candidate(graph, {.layouts = {{transposed, Layout::Plain}, {between, Layout::Plain}}});
  ASSERT_TRUE(export_model(with_candidate(model, candidate).value(), options.input).has_value());
  EXPECT_THAT(layouts_in(options.input, "d"), Contains("plain"));
  const auto report = optimize(options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->improved) << report->outcome;
  EXPECT_EQ(report->decisions["layouts"].size(), 1) << report->decisions.dump();
  EXPECT_EQ(report->decisions_dropped, nlohmann::json({{"layouts", {{"a", "plain"}}}}));
  const Model output = import_model(options.output).value();
  const ValueId kept = output.graph.operands(output.graph.producer_node(output.graph.outputs()[0]))[0];
  EXPECT_EQ(stored_decisions(output).value(), (Decisions{.layouts = {{kept, Layout::Plain}}}));
  EXPECT_THAT(layouts_in(options.output, output.graph.name(kept)), Contains("plain"));
}

/// Returns the activation memory that the built-in runtime plans for a model file, with the choices of a database.
double planned_bytes(const std::filesystem::path& file, const std::filesystem::path& db) {
  const Graph graph = import_model(file).value().graph;
  const auto engine = make_engine("onednn").value();
  EXPECT_TRUE(keep_tunings(*engine, std::make_shared<ProfileDb>(ProfileDb::open(db).value())).has_value());
  return static_cast<double>(engine->activation_memory(graph, concrete_inputs(graph, {}).value()).value()->total());
}

TEST_F(Optimize, HandsOutNoGraphWhosePlanExceedsTheLimit) {
  OptimizeOptions options = network("sru-11");
  options.costs.engine = "onednn";
  options.costs.profile_db = folder_.path() / "profile.db";
  limit_candidates(options);
  options.min_speedup = 0;
  options.confirm = {.warmup = 1, .min_runs = 3, .max_runs = 3, .seconds = 0};
  const double model_bytes = planned_bytes(options.input, options.costs.profile_db);
  for (const double share : {1.2, 0.9, 0.1}) {
    options.objective = Objective();
    ASSERT_TRUE(options.objective.add_limit(fmt::format("peak_bytes <= {}", share * model_bytes)).has_value());
    const auto report = optimize(options);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    const double output_bytes = planned_bytes(options.output, options.costs.profile_db);
    EXPECT_TRUE(!report->improved || output_bytes <= share * model_bytes);
    EXPECT_EQ(report->within_limits, output_bytes <= share * model_bytes);
    ASSERT_TRUE(report->cost_before.has_value()) << report->outcome;
    ASSERT_TRUE(report->cost_after.has_value()) << report->outcome;
    ASSERT_TRUE(report->memory_after.has_value()) << report->outcome;
    EXPECT_EQ(report->cost_before->peak_bytes, model_bytes);
    EXPECT_EQ(report->cost_after->peak_bytes, output_bytes);
    EXPECT_EQ(report->memory_after->total(), output_bytes);
  }
}

TEST_F(Optimize, MakesThePlannedMemorySmaller) {
  // Without the wide value between the products, nearly all of the memory is saved.
  constexpr std::string_view kWideProduct = R"(
    input x: f32[8,16]
    w = f32[16,2048]{seed 1}
    v = f32[2048,16]{seed 2}
    a = MatMul(x, w)
    b = MatMul(a, v)
    y = Tanh(b)
    return y)";
  OptimizeOptions options = network("sru-11");
  options.input = folder_.path() / "product.onnx";
  options.output = folder_.path() / "product.out.onnx";
  const Graph graph = parse_graph(kWideProduct, find_op).value();
  ASSERT_TRUE(export_model(make_model(graph, "product", 17), options.input).has_value());
  options.costs.engine = "onednn";
  options.costs.profile_db = folder_.path() / "profile.db";
  limit_candidates(options);
  options.confirm = {.warmup = 1, .min_runs = 3, .max_runs = 3, .seconds = 0};
  options.tolerance = 1e-3;
  options.objective = Objective::parse("memory").value();
  const auto report = optimize(options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->improved) << report->outcome;
  ASSERT_TRUE(report->cost_before.has_value()) << report->outcome;
  ASSERT_TRUE(report->cost_after.has_value()) << report->outcome;
  EXPECT_LT(report->cost_after->peak_bytes, report->cost_before->peak_bytes / 10);
  EXPECT_EQ(report->cost_after->peak_bytes, planned_bytes(options.output, options.costs.profile_db));
}

TEST_F(Optimize, AnInterruptEndsTheSearchAndWritesTheBestSoFar) {
  OptimizeOptions options = network("sru-11");
  options.certificate = folder_.path() / "certificate";
  std::set<bool> improved;
  for (const int looks : {0, 1000, 100000}) {
    int asked = 0;
    options.stop = [&] { return ++asked > looks; };
    const auto report = optimize(options);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->interrupted, asked > looks);
    EXPECT_EQ(report->outcome.starts_with("interrupted; "), report->interrupted) << report->outcome;
    EXPECT_EQ(to_json(*report)["interrupted"], report->interrupted);
    EXPECT_EQ(import_model(options.output)->graph.hash() != import_model(options.input)->graph.hash(),
              report->improved);
    improved.insert(report->improved);
  }
  EXPECT_EQ(improved.size(), 2U);
}

TEST_F(Optimize, FailsWhereNothingCouldBeMeasured) {
  for (const char* search : {"auto", "backtrack"}) {
    OptimizeOptions options = network("sru-11");
    options.costs.engine = "ort";
    options.search.search = search;
    options.search.time_budget_seconds = 120;  // each candidate fails soon
    const char* const before = std::getenv("TMPDIR");
    const std::string restore = before == nullptr ? "" : before;
    ::setenv("TMPDIR", folder_.path().c_str(), 1);
    // No file can be written after the first measurement.
    options.progress = [&](const std::string&) {
      for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
        if (entry.path().filename().string().starts_with("isomer-temporary-"))
          std::filesystem::remove_all(entry.path());
    };
    const auto report = optimize(options);
    restore.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", restore.c_str(), 1);
    ASSERT_FALSE(report.has_value()) << search << ": " << report->outcome;
    EXPECT_THAT(report.error().message, HasSubstr("nothing could be measured: "));
    EXPECT_THAT(report.error().message, HasSubstr("No such file or directory"));
    EXPECT_FALSE(std::filesystem::exists(options.output));
  }
}

TEST_F(Optimize, SaysWhenNothingKeepsALimit) {
  OptimizeOptions options = network("sru-11");
  ASSERT_TRUE(options.objective.add_limit("peak_bytes <= 1").has_value());
  const auto none = optimize(options);
  ASSERT_TRUE(none.has_value()) << none.error().message;
  EXPECT_FALSE(none->improved);
  EXPECT_EQ(none->within_limits, false);
  EXPECT_THAT(none->outcome, HasSubstr("the output is the input, which exceeds a limit (peak_bytes <= 1: "));
  EXPECT_EQ(read_file(options.output).value(), read_file(options.input).value());
}

}  // namespace
}  // namespace isomer
