#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/testing.h"
#include "isomer/cost/profile_db.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/npy.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class Cli : public testing::Test {
 protected:
  void SetUp() override {
    a_ = model("a", "y = MatMul(x, w)\n z = Relu(y)");
    b_ = model("b", "u = MatMul(x, w)\n v = Relu(u)\n z = Relu(v)");
    wrong_ = model("wrong", "y = MatMul(x, w)\n z = Sigmoid(y)");
  }

  /// Writes a model of [N,8] x [8,4] with this body; its output is z.
  std::string model(const std::string& name, const std::string& body, const std::string& outputs = "z") const {
    auto graph = parse_graph("input x: f32[N,8]\n w = f32[8,4]{seed 1}\n " + body + "\n return " + outputs, find_op);
    EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message);
    const fs::path path = folder_ / (name + ".onnx");
    const Status written = export_model(make_model(std::move(*graph), name, 17), path);
    EXPECT_TRUE(written.has_value()) << (written ? "" : written.error().message);
    return path.string();
  }

  const TempDir temporary_ = TempDir::make().value();
  const fs::path folder_ = temporary_.path();
  std::string a_, b_, wrong_;
};

/// Tests the help of all commands of `app`, whose name is `words`: each is listed and ends with an example of itself.
void expect_help_with_examples(const CLI::App& app, const std::vector<std::string>& words) {
  const auto help_of = [](std::vector<std::string> arguments) {
    arguments.emplace_back("--help");
    return isomer_program(arguments);
  };
  const std::string all = help_of(words).out;
  for (const CLI::App* command : app.get_subcommands({})) {
    std::vector<std::string> name = words;
    name.push_back(command->get_name());
    const Outcome help = help_of(name);
    EXPECT_EQ(help.exit_code, 0) << command->get_name();
    EXPECT_THAT(help.out, HasSubstr(fmt::format("Example: isomer {}", fmt::join(name, " "))));
    EXPECT_THAT(all, HasSubstr("  " + command->get_name()));
    expect_help_with_examples(*command, name);
  }
}

TEST_F(Cli, EveryCommandHasHelpWithAnExample) {
  int exit_code = 0;
  CLI::App app;
  for (const AddCommand add : all_commands()) add(app, exit_code);
  expect_help_with_examples(app, {});
}

TEST_F(Cli, UsageErrorsAreTwo) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"frobnicate"},
                                                    {"run"},
                                                    {"run", a_, "--frob"},
                                                    {"bench", a_, "--threads", "0"},
                                                    {"run", a_, "--engine", "tpu"},
                                                    {"run", a_, "--shape", "q"},
                                                    {"compare", a_}}) {
    const Outcome outcome = isomer_program(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, StartsWith("isomer: "));
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(isomer_program({"--version"}).exit_code, 0);
}

TEST_F(Cli, BadFilesAreNamed) {
  const std::string bad = (folder_ / "bad.onnx").string(), none = (folder_ / "none.onnx").string();
  ASSERT_TRUE(write_file(bad, "\x01\x02 no model").has_value());
  for (const std::string command : {"run", "bench", "inspect", "explain"}) {
    for (const std::string& file : {bad, none}) {
      const Outcome outcome = isomer_program({command, file, "--json"});
      EXPECT_EQ(outcome.exit_code, 2) << command;
      EXPECT_THAT(outcome.err, StartsWith("isomer: " + file + ": ")) << command;
      EXPECT_EQ(outcome.out, "");
    }
  }
  for (const std::string command : {"compare", "diff"}) EXPECT_EQ(isomer_program({command, a_, none}).exit_code, 2);
}

TEST_F(Cli, RunWritesItsOutputs) {
  const std::string x = (folder_ / "x.npy").string(), out = (folder_ / "out").string();
  ASSERT_TRUE(write_npy(x, Tensor::floats({1, 8}, std::vector<float>(8, 1.0F))).has_value());
  std::vector<Tensor> results;
  for (const std::string engine : {"ort", "reference"}) {
    const Outcome outcome = isomer_program({"run", a_, "--engine", engine, "--input", "x=" + x, "--output-dir", out});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("f32[1,4]"));
    results.push_back(read_npy(folder_ / "out" / "z.npy").value());
  }
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(results[0].data<float>()[i], results[1].data<float>()[i], 1e-5);

  EXPECT_EQ(isomer_program({"run", a_, "--input", "q=" + x}).exit_code, 2);
  EXPECT_EQ(isomer_program({"run", a_, "--input", "x=" + a_}).exit_code, 2);
  ASSERT_TRUE(write_npy(x, Tensor::floats({1, 7}, std::vector<float>(7, 1.0F))).has_value());
  EXPECT_THAT(isomer_program({"run", a_, "--input", "x=" + x}).err, HasSubstr("does not fit"));
}

TEST_F(Cli, RunReportsAsJson) {
  const json report = isomer_program({"run", a_, "--shape", "N=3", "--seed", "5", "--json"}).report();
  EXPECT_EQ(report["outputs"][0]["type"], "f32[3,4]");
  EXPECT_EQ(report["outputs"][0]["min"], 0.0) << "of a relu";
  EXPECT_EQ(report["seed"], 5);
  EXPECT_EQ(report, isomer_program({"run", a_, "--shape", "x:3,8", "--seed", "5", "--json"}).report());
}

TEST_F(Cli, RunSummarizesNumbers) {
  const std::string x = folder_ / "x.npy", path = folder_ / "identity.onnx";
  const auto run = [&](const std::string& type, const Tensor& tensor, const std::vector<std::string>& more) {
    const Graph graph = parse_graph("input x: " + type + "\n z = Identity(x)\n return z", find_op).value();
    EXPECT_TRUE(export_model(make_model(graph, "identity", 17), path).has_value());
    EXPECT_TRUE(write_npy(x, tensor).has_value());
    std::vector<std::string> arguments = {"run", path, "--engine", "reference", "--input", "x=" + x};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return isomer_program(arguments);
  };
  const auto row = [&](const std::string& type, const Tensor& tensor) {
    json out = run(type, tensor, {"--json"}).report()["outputs"][0];
    for (const std::string key : {"name", "type"}) out.erase(key);
    return out;
  };
  EXPECT_EQ(row("u64[N]", Tensor::of<uint64_t>(DType::Uint64, {2}, {1, uint64_t{1} << 63})),
            (json{{"min", 1}, {"max", 0x1p63}, {"mean", 0x1p62}}));
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Tensor one_nan = Tensor::floats({3}, {kNan, 1, 3});
  EXPECT_EQ(row("f32[N]", one_nan), (json{{"nan", 1}, {"min", 1}, {"max", 3}, {"mean", 2}}));
  EXPECT_EQ(row("f32[N]", Tensor::floats({2}, {kNan, kNan})), (json{{"nan", 2}}));
  EXPECT_THAT(run("f32[N]", one_nan, {}).out, HasSubstr("\nz: 1 of 3 elements are NaN\n"));
}

TEST_F(Cli, FewerBitsAreReportedOrRefused) {
  const auto run = [&](const std::string& engine, const std::string& dtype) {
    return isomer_program({"run", a_, "--engine", engine, "--dtype", dtype, "--json"});
  };
  EXPECT_EQ(run("onednn", "f32").report()["dtype"], "f32");
  EXPECT_FALSE(run("onednn", "f32").report().contains("precision"));
  EXPECT_THAT(run("onednn", "f16").err, HasSubstr("--dtype: f16 not in"));
  EXPECT_THAT(run("reference", "bf16").err, HasSubstr("needs the engine onednn"));
  EXPECT_EQ(run("onednn", "f16").exit_code, 2);
  EXPECT_EQ(run("reference", "bf16").exit_code, 2);
  const Outcome bf16 = run("onednn", "bf16");
  if (bf16.exit_code != 0) {
    EXPECT_THAT(bf16.err, HasSubstr("AVX512_BF16"));
    return;
  }
  const json loss = bf16.report()["precision"];
  EXPECT_EQ(loss["dtype"], "bf16");
  EXPECT_GT(loss["max_rel"].get<double>(), 0);
  EXPECT_LT(loss["max_rel"].get<double>(), 0.03);
  EXPECT_THAT(isomer_program({"run", a_, "--engine", "onednn", "--dtype", "bf16"}).out, HasSubstr("bf16: within"));
  const json bench =
      isomer_program({"bench", a_, b_, "--engine", "onednn", "--dtype", "bf16", "--runs", "2", "--json"}).report();
  for (const json& model : bench["models"]) EXPECT_EQ(model["precision"]["dtype"], "bf16");
  EXPECT_EQ(isomer_program({"compare", a_, b_, "--engine", "onednn", "--dtype", "bf16"}).exit_code, 0);
}

TEST_F(Cli, BenchReportsWhatTheContractSays) {
  const Outcome one = isomer_program({"bench", a_, "--runs", "12", "--json"});
  ASSERT_EQ(one.exit_code, 0) << one.err;
  const json model = one.report()["models"][0];
  EXPECT_EQ(model["name"], a_);
  EXPECT_EQ(model["engine"], "ort");
  EXPECT_EQ(model["threads"], 1);
  EXPECT_EQ(model["runs"], 12);
  EXPECT_GT(model["median_us"], 0);
  EXPECT_GE(model["p95_us"], model["median_us"]);
  EXPECT_FALSE(one.report().contains("ratio"));

  const json two = isomer_program({"bench", a_, b_, "--runs", "12", "--json", "--threads", "2"}).report();
  EXPECT_EQ(two["models"].size(), 2);
  EXPECT_EQ(two["models"][1]["threads"], 2);
  EXPECT_GT(two["ratio"], 0);
  EXPECT_LE(two["ci95"][0], two["ratio"]);
  EXPECT_GE(two["ci95"][1], two["ratio"]);
  EXPECT_THAT(isomer_program({"bench", a_, b_, "--runs", "12"}).out, HasSubstr("ratio"));
}

TEST_F(Cli, CompareTellsEqualFromDifferent) {
  for (const std::string engine : {"ort", "reference"}) {
    const Outcome same = isomer_program({"compare", a_, b_, "--engine", engine, "--json"});
    EXPECT_EQ(same.exit_code, 0) << same.err << same.out;
    EXPECT_EQ(same.report()["equal"], true);
    const Outcome different = isomer_program({"compare", a_, wrong_, "--engine", engine, "--json"});
    EXPECT_EQ(different.exit_code, 1) << different.err;
    EXPECT_EQ(different.report()["outputs"][0]["differs"], true);
    EXPECT_GT(different.report()["outputs"][0]["max_rel"], 0.01);
  }
  EXPECT_EQ(isomer_program({"compare", a_, wrong_, "--tolerance", "100"}).exit_code, 0);
  EXPECT_THAT(isomer_program({"compare", a_, wrong_}).out, HasSubstr("DIFFERENT"));
  const std::string narrow =
      model("narrow", "y = MatMul(x, w)\n z = Slice(y) {axes=[1], starts=[0], ends=[2], steps=[1]}");
  EXPECT_EQ(isomer_program({"compare", a_, narrow}).exit_code, 1);
  const std::string two = model("two", "z = MatMul(x, w)\n y = Relu(z)", "z, y");
  EXPECT_EQ(isomer_program({"compare", a_, two}).exit_code, 2);
}

TEST_F(Cli, CompareAllowsTheRoundingThatAModelAmplifies) {
  const std::string sine = model("sine", "c = f32[]{2000}\n p = Mul(x, c)\n y = Sin(p)", "y");
  const std::string sum = model("sum",
                                "a = f32[]{700}\n b = f32[]{1300}\n p = Mul(x, a)\n q = Mul(x, b)\n "
                                "s = Add(p, q)\n y = Sin(s)",
                                "y");
  const std::string wrong = model("off", "c = f32[]{2001}\n p = Mul(x, c)\n y = Sin(p)", "y");
  const Outcome same = isomer_program({"compare", sine, sum, "--shape", "N=8", "--engine", "reference", "--json"});
  EXPECT_EQ(same.exit_code, 0) << same.err << same.out;
  EXPECT_GT(same.report()["outputs"][0]["max_rel"], 1e-4);
  EXPECT_GT(same.report()["outputs"][0]["movement"], 1e-4);
  EXPECT_EQ(isomer_program({"compare", sine, wrong, "--shape", "N=8", "--engine", "reference"}).exit_code, 1);
  const Outcome strict = isomer_program(
      {"compare", sine, sum, "--shape", "N=8", "--engine", "reference", "--tolerance", "1e-4", "--json"});
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_EQ(strict.report()["outputs"][0]["movement"], 0);
}

TEST_F(Cli, InspectCountsAndDraws) {
  const std::string dot = (folder_ / "a.dot").string();
  const Outcome outcome = isomer_program({"inspect", a_, "--shape", "N=10", "--dot", dot, "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json report = outcome.report();
  EXPECT_EQ(report["parameters"], 32);
  EXPECT_EQ(report["opset"], 17);
  EXPECT_EQ(report["opsets"], (json{{"", 17}}));
  EXPECT_EQ(report["inputs"][0], (json{{"name", "x"}, {"type", "f32[N,8]"}, {"has_default", false}}));
  EXPECT_EQ(report["ops"][0]["op"], "MatMul");
  EXPECT_EQ(report["ops"][0]["flops"], 2 * 10 * 8 * 4);
  EXPECT_THAT(read_file(dot).value(), HasSubstr("MatMul"));
  EXPECT_THAT(isomer_program({"inspect", a_}).out, HasSubstr("parameters 32"));
  EXPECT_THAT(isomer_program({"inspect", a_, "--dot", a_}).err, HasSubstr("is an input"));
}

TEST_F(Cli, InspectTellsThePlannedMemory) {
  const std::string db = (folder_ / "profile.db").string();
  const Outcome outcome =
      isomer_program({"inspect", a_, "--shape", "N=10", "--engine", "onednn", "--profile-db", db, "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json plan = outcome.report()["plan"];
  EXPECT_EQ(plan["input_bytes"], 10 * 8 * 4);
  EXPECT_EQ(plan["output_bytes"], 10 * 4 * 4);
  EXPECT_GE(plan["arena_bytes"], plan["scratch_bytes"]);
  EXPECT_EQ(plan["peak_bytes"], plan["input_bytes"].get<int>() + plan["output_bytes"].get<int>() +
                                    plan["arena_bytes"].get<int>() + plan["reference_bytes"].get<int>());
  EXPECT_THAT(isomer_program({"inspect", a_, "--engine", "onednn", "--profile-db", db}).out,
              HasSubstr("peak activations"));
  const json without = isomer_program({"inspect", a_, "--json"}).report();
  EXPECT_FALSE(without.contains("plan"));
  EXPECT_FALSE(isomer_program({"inspect", a_, "--engine", "reference", "--json"}).report().contains("plan"));
  const Outcome no_costs = isomer_program({"inspect", a_, "--shape", "N=10", "--engine", "reference", "--costs"});
  EXPECT_EQ(no_costs.exit_code, 2);
  EXPECT_THAT(no_costs.err, HasSubstr("engine 'reference' does not say how it groups nodes into kernels"));
}

TEST_F(Cli, InspectShowsEveryOpsetImport) {
  // Messages of protobuf may be concatenated; this adds an import of com.example at version 3.
  const std::string import =
      "\x42\x0f\x0a\x0b"
      "com.example\x10\x03";
  const std::string path = (folder_ / "two.onnx").string();
  ASSERT_TRUE(write_file(path, read_file(a_).value() + import).has_value());
  EXPECT_EQ(isomer_program({"inspect", path, "--json"}).report()["opsets"], (json{{"", 17}, {"com.example", 3}}));
  EXPECT_THAT(isomer_program({"inspect", path}).out, HasSubstr("opset 17, com.example 3\n"));
}

TEST_F(Cli, DiffShowsWhatChanged) {
  const json same = isomer_program({"diff", a_, a_, "--json"}).report();
  EXPECT_EQ(same["equal"], true);
  EXPECT_TRUE(same["only_before"].empty());
  const json changed = isomer_program({"diff", a_, b_, "--json"}).report();
  EXPECT_EQ(changed["equal"], false);
  EXPECT_EQ(changed["ops"]["Relu"], (json{{"before", 1}, {"after", 2}}));
  EXPECT_TRUE(changed["only_before"].empty()) << "b computes all that a does";
  EXPECT_EQ(changed["only_after"].size(), 1);
  EXPECT_EQ(isomer_program({"diff", a_, wrong_}).exit_code, 0);
  EXPECT_THAT(isomer_program({"diff", a_, wrong_}).out, HasSubstr("Sigmoid"));
  EXPECT_EQ(changed["regions"], 1);
  EXPECT_EQ(changed["only_after"][0], (json{{"region", 1}, {"op", "Relu"}, {"name", "z"}, {"type", "f32[N,4]"}}));

  const std::string dot = (folder_ / "diff.dot").string();
  ASSERT_EQ(isomer_program({"diff", a_, b_, "--dot", dot, "--hops", "1"}).exit_code, 0);
  EXPECT_THAT(read_file(dot).value(), HasSubstr("subgraph cluster_b_0"));
  EXPECT_EQ(isomer_program({"diff", a_, b_, "--dot", b_}).exit_code, 2) << "b is an input";
}

TEST_F(Cli, ModelsAreListedAndWritten) {
  const json list = isomer_program({"models", "--json"}).report();
  ASSERT_FALSE(list["models"].empty());
  EXPECT_THAT(isomer_program({"models"}).out, HasSubstr("squeezenet"));
  const std::string path = (folder_ / "net.onnx").string();
  const Outcome written = isomer_program({"models", "squeezenet", "-o", path, "--batch", "2"});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(isomer_program({"inspect", path}).out, HasSubstr("f32[2,3,224,224]"));
  EXPECT_EQ(isomer_program({"models", "no-such-network", "-o", path}).exit_code, 2);
  EXPECT_EQ(isomer_program({"models", "squeezenet"}).exit_code, 2);
}

TEST_F(Cli, OptimizeWritesItsReportAsAPageOrAsJson) {
  const std::string path = (folder_ / "sru.onnx").string();
  ASSERT_EQ(isomer_program({"models", "sru-11", "-o", path}).exit_code, 0);
  const auto report = [&](const char* name) {
    const auto file = folder_ / name;
    const Outcome run =
        isomer_program({"optimize", path, "--dry-run", "--engine", "roofline", "--report", file.string()});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return read_file(file).value();
  };
  EXPECT_EQ(json::parse(report("report.json"))["schema"], "isomer.optimize.v1");
  EXPECT_THAT(report("report.html"), StartsWith("<!doctype html>"));
}

/// Returns the spans of a trace, after checking that each is within those around it.
std::vector<json> nested_spans(const fs::path& file) {
  std::vector<json> spans;
  std::map<int, std::vector<double>> ends;  // of the enclosing spans, by thread
  const json trace = json::parse(read_file(file).value());
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const double start = event["ts"], end = start + event["dur"].get<double>();
    constexpr double kRounding = 1e-3;  // microseconds
    auto& around = ends[event["tid"]];
    while (!around.empty() && around.back() <= start + kRounding) around.pop_back();
    EXPECT_TRUE(around.empty() || end <= around.back() + kRounding) << event;
    around.push_back(end);
    spans.push_back(event);
  }
  return spans;
}

TEST_F(Cli, TracesTheKernelsOfARun) {
  const fs::path file = folder_ / "trace.json";
  const std::string db = (folder_ / "profile.db").string();
  const std::string chain = model("chain", "u = MatMul(x, w)\n v = Relu(u)\n y = Erf(v)\n z = Softmax(y) {axis=-1}");
  for (const std::string command : {"run", "bench"}) {
    std::vector<std::string> arguments = {command,        chain, "--engine", "onednn",
                                          "--profile-db", db,    "--trace",  file.string()};
    if (command == "bench") arguments.insert(arguments.end(), {a_, "--runs", "3"});
    const Outcome outcome = isomer_program(arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::vector<json> spans = nested_spans(file);
    std::map<int, double> reached;  // the end of the covered time, by thread
    std::multiset<std::string> names;
    for (const json& span : spans) {
      names.insert(span["name"].get<std::string>());
      const int thread = span["tid"];
      const double start = span["ts"], end = start + span["dur"].get<double>();
      if (span["name"] == "run") {
        EXPECT_FALSE(reached.contains(thread)) << "the run comes before its kernels";
        reached[thread] = -1;
        continue;
      }
      EXPECT_TRUE(reached[thread] < 0 || std::abs(start - reached[thread]) < 1e-3) << "a gap between kernels";
      reached[thread] = end;
      EXPECT_FALSE(span["args"]["implementation"].get<std::string>().empty());
      EXPECT_GT(span["args"]["bytes"], 0);
    }
    EXPECT_EQ(names.count("run"), command == "bench" ? 2U : 1U);
    EXPECT_EQ(names.count("MatMul+Relu"), command == "bench" ? 2U : 1U);
    EXPECT_EQ(names.count("Softmax"), 1U);
  }
  const Outcome other = isomer_program({"run", a_, "--engine", "reference", "--trace", file.string()});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("'reference' does not report when its kernels run"));
  EXPECT_EQ(isomer_program({"run", a_, "--engine", "onednn", "--profile-db", db, "--trace", a_}).exit_code, 2)
      << "it would overwrite the model";
}

TEST_F(Cli, TracesTheSearch) {
  const std::string path = (folder_ / "model.onnx").string();
  ASSERT_EQ(isomer_program({"models", "inception-e-1", "-o", path}).exit_code, 0);
  const fs::path file = folder_ / "trace.json";
  const Outcome outcome =
      isomer_program({"optimize", path, "--dry-run", "--engine", "roofline", "--json", "--trace", file.string()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<json> spans = nested_spans(file);
  ASSERT_FALSE(spans.empty());
  EXPECT_EQ(spans[0]["name"], "optimize") << "contains all others";
  std::vector<std::string> phases;
  std::map<std::string, int> categories;
  for (const json& span : spans) {
    ++categories[span["cat"]];
    if (span["cat"] == "phase") phases.push_back(span["name"]);
  }
  EXPECT_THAT(phases, testing::ElementsAre("optimize", "import", "read rules", "start the engine", "search", "prove",
                                           "confirm", "report"));
  for (const char* category : {"search", "step", "candidates", "judge", "part"}) EXPECT_GT(categories[category], 0);
  double candidates = 0, cost = 0;
  const json trace = json::parse(read_file(file).value());
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "C") continue;
    if (event["name"] == "best cost") cost = event["args"]["best cost"];
    if (event["name"] == "candidates") candidates = std::max(candidates, event["args"]["candidates"].get<double>());
  }
  const json report = outcome.report();
  EXPECT_GT(candidates, 0);
  EXPECT_LE(candidates, report["search"]["candidates"].get<double>());
  EXPECT_NEAR(cost, report["cost"]["after_us"].get<double>(), 1e-6);
}

TEST_F(Cli, VerifyTakesVerdictsOfOwnRules) {
  const auto path = [&](const char* name) { return (folder_ / name).string(); };
  const std::string rules = path("own.rules"), lock = path("own.lock"), out = path("out.onnx"), cert = path("own.cert");
  const std::string twice =
      model("twice", "u = MatMul(x, w)\n v = Transpose(u) {perm=[1,0]}\n z = Transpose(v) {perm=[1,0]}");
  const char* const own = "rule own (Transpose perm=[1,0] (Transpose perm=[1,0] ?x)) => ?x where rank(?x) == 2";
  ASSERT_TRUE(write_file(rules, own).has_value());
  ASSERT_EQ(isomer_program({"rules", "verify", "--rules", rules, "--write", lock}).exit_code, 0);
  const Outcome made =
      isomer_program({"optimize", twice, "-o", out, "--engine", "roofline", "--rules", rules, "--certificate", cert});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Outcome unknown = isomer_program({"verify", cert, twice, out});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.out, HasSubstr("rule own: the lock of verdicts does not have it"));
  const Outcome known = isomer_program({"verify", cert, twice, out, "--lock", lock});
  EXPECT_EQ(known.exit_code, 0) << known.out << known.err;
}

TEST_F(Cli, ExplainTellsWhyAndWhatItWouldCost) {
  const std::string path = (folder_ / "sru.onnx").string();
  ASSERT_EQ(isomer_program({"models", "sru-11", "-o", path}).exit_code, 0);
  const json report = isomer_program({"explain", path, "--rule", "factor-add", "--json"}).report();
  ASSERT_EQ(report["places"].size(), 2);
  for (const json& place : report["places"]) {
    EXPECT_TRUE(place["applies"]);
    EXPECT_LT(place["delta_us"], 0);
  }
  const std::string all = isomer_program({"explain", path}).out;
  EXPECT_THAT(all, HasSubstr("merge-products-shared-left"));
  EXPECT_THAT(all, HasSubstr("applies  best change, us  most often fails on\n"));
  EXPECT_EQ(isomer_program({"explain", path, "--rule", "no-such-rule"}).exit_code, 2);
  EXPECT_EQ(isomer_program({"explain", path, "--node", "nowhere"}).exit_code, 2);
  EXPECT_THAT(isomer_program({"explain", path, "--rule", "drop-relu-of-relu"}).out, HasSubstr("no node of the model"));
}

TEST_F(Cli, ExplainTakesCostsOfTheBuiltInRuntime) {
  const std::string database = (folder_ / "p.db").string();
  const Outcome outcome = isomer_program(
      {"explain", b_, "--rule", "drop-relu-of-relu", "--engine", "onednn", "--profile-db", database, "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json report = outcome.report();
  EXPECT_EQ(report["engine"], "onednn");
  EXPECT_GT(report["cost_us"], 0);
  EXPECT_TRUE(std::filesystem::exists(database)) << "keeps the kernels that it measured";
}

TEST_F(Cli, ProfilesAreShownAndMerged) {
  const std::string mine = (folder_ / "mine.db").string();
  const std::string theirs = (folder_ / "theirs.db").string();
  EXPECT_EQ(isomer_program({"profile", "show", "--profile-db", mine}).exit_code, 2) << "it does not exist yet";
  auto db = ProfileDb::open(theirs).value();
  const KernelTime time{.us = 5, .spread = 1, .runs = 9};
  ASSERT_TRUE(db.store({"ort", "1.0", "a processor", 2}, 7, time, "Relu").has_value());
  const json merged = isomer_program({"profile", "merge", theirs, "--profile-db", mine, "--json"}).report();
  EXPECT_EQ(merged["merged"], (json{{{"file", theirs}, {"taken", 1}}}));
  const json shown = isomer_program({"profile", "show", "--profile-db", mine, "--json"}).report();
  const json device{
      {"engine", "ort"}, {"version", "1.0"}, {"processor", "a processor"}, {"threads", 2}, {"kernels", 1}};
  EXPECT_EQ(shown["devices"], json::array({device}));
  EXPECT_EQ(isomer_program({"profile", "merge", a_, "--profile-db", mine}).exit_code, 2) << "no database";
}

TEST_F(Cli, OptimizesWithDiscoveredRules) {
  const std::string rules = ISOMER_SOURCE_DIR "/rulesets/discovered.rules", out = folder_ / "out.onnx";
  const std::string two = model("two", "v = f32[8,4]{seed 2}\n p = MatMul(x, w)\n q = MatMul(x, v)\n z = Add(p, q)");
  const Outcome made = isomer_program({"optimize", two, "-o", out, "--engine", "roofline", "--rules", rules, "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const json report = made.report();
  ASSERT_FALSE(report["steps"].empty()) << "x a + x b = x (a + b)";
  EXPECT_THAT(report["steps"][0]["rule"].get<std::string>(), StartsWith("discovered-"));
  EXPECT_EQ(isomer_program({"compare", two, out}).exit_code, 0);
}

}  // namespace
}  // namespace isomer
