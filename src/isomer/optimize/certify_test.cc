// Tests certificates from end to end: made by optimize, checked by the replayer, refused after any change.

#include "isomer/optimize/certify.h"

#include <gmock/gmock.h>

#include "isomer/base/file.h"
#include "isomer/base/rng.h"
#include "isomer/base/temp_dir.h"
#include "isomer/certificate/verify_files.h"
#include "isomer/ir/text.h"
#include "isomer/models/models.h"
#include "isomer/onnx/defaults.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/ops/registry.h"
#include "isomer/rules/builtin.h"
#include "isomer/search/tactic.h"

namespace isomer {
namespace {

using replay::Certificate;
using replay::Verification;
using ::testing::HasSubstr;

constexpr std::string_view kMixed = R"(
  input x: f32[N,8]
  w = f32[8,4]{seed 1}
  v = f32[8,4]{seed 2}
  e = f32[2]{1,2}
  f = f32[2]{3,4}
  g = Add(e, f)
  a = MatMul(x, w)
  b = MatMul(x, v)
  s = Add(a, b)
  t = Relu(s)
  y = Relu(t)
  return y, y, g, x)";

/// Two rules apply one after the other, and a weight is folded.
constexpr std::string_view kFactors = R"(
  input f: f32[64,8]
  input c: f32[64,8]
  input z: f32[64,8]
  w = f32[8,8]{seed 1}
  v = f32[8,8]{seed 2}
  p = Mul(f, c)
  q = Mul(f, z)
  s = Add(p, q)
  a = MatMul(s, w)
  b = MatMul(s, v)
  y = Add(a, b)
  return y)";

class Certify : public ::testing::Test {
 protected:
  OptimizeOptions options_of(const std::string& name, const Graph& graph, int opset = 17) {
    OptimizeOptions options;
    options.input = folder_.path() / (name + ".onnx");
    options.output = folder_.path() / (name + ".out.onnx");
    options.certificate = folder_.path() / (name + ".cert");
    options.costs.engine = "roofline";
    const Status written = export_model(make_model(graph, name, opset), options.input);
    EXPECT_TRUE(written.has_value());
    return options;
  }
  OptimizeOptions network(const std::string& name) { return options_of(name, build_model(name).value()); }

  static Result<Verification> verified(const OptimizeOptions& options) {
    return replay::verify_certificate(options.certificate, options.input, options.output, builtin_lock().value());
  }
  /// Returns the problem; empty if the certificate holds.
  static std::string problem(const OptimizeOptions& options) {
    const auto found = verified(options);
    return found ? found->problem : "bad input: " + found.error().message;
  }

  static Certificate read(const OptimizeOptions& options) {
    auto certificate = replay::parse_certificate(read_file(options.certificate).value());
    EXPECT_TRUE(certificate.has_value()) << (certificate ? "" : certificate.error().message);
    return certificate.value_or(Certificate{});
  }
  /// Returns the problem after the certificate was changed and its digest adapted.
  static std::string problem_with(const OptimizeOptions& options, const Certificate& certificate) {
    OptimizeOptions changed = options;
    changed.certificate += ".changed";
    EXPECT_TRUE(write_file(changed.certificate, print_certificate(certificate)).has_value());
    return problem(changed);
  }

  /// Optimizes with a certificate, which must hold, and returns what was replayed.
  static Verification certify(const OptimizeOptions& options) {
    const auto report = optimize(options);
    EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().message);
    auto found = verified(options);
    EXPECT_TRUE(found.has_value()) << (found ? "" : found.error().message);
    EXPECT_EQ(found ? found->problem : "", "") << options.input;
    return found ? std::move(*found) : Verification{};
  }

  TempDir folder_ = TempDir::make().value();
};

TEST_F(Certify, HoldsForEverySearchOnSmallNetworks) {
  size_t applications = 0;
  size_t parts = 0;
  for (const std::string name : {"sru-11", "squeezenet", "inception-e-1", "nasrnn"}) {
    for (const std::string search : {"auto", "greedy", "backtrack"}) {
      OptimizeOptions options = network(name);
      options.search.search = search;
      options.search.max_candidates = 100;
      options.search.split = 12;
      const Verification found = certify(options);
      applications += found.tally.applications;
      parts += found.tally.parts;
    }
  }
  EXPECT_GT(applications, 50U);
  EXPECT_GT(parts, 5U);
}

/// The moves contain every application of a tactic.
TEST_F(Certify, TacticsReplay) {
  const RuleSet rules = usable_rules("", {}).value();
  replay::RuleBook book;
  for (const Rule& rule : rules.rules) book.emplace(rule.name, rule);
  const Graph graph = build_model("nasnet-mobile").value();
  std::set<std::string> used;
  replay::Tally tally;
  for (const Tactic& tactic : rules.tactics) {
    for (const TacticResult& result : run_tactic(graph, tactic, rules.rules)) {
      std::vector<Move> moves;
      for (const SearchStep& step : result.steps) moves.insert(moves.end(), step.moves.begin(), step.moves.end());
      const auto again = replay::replay_moves(graph, moves, book, tally);
      ASSERT_TRUE(again.has_value()) << tactic.name << ": " << again.error().message;
      EXPECT_EQ(again->hash(), result.graph.hash()) << tactic.name;
      used.insert(tactic.name);
    }
  }
  EXPECT_GE(used.size(), 2U);
  EXPECT_GT(tally.applications, 500U);
}

/// Which channel blocks are tried depends on the device. Whoever checks a certificate needs no device.
TEST_F(Certify, HoldsForTheBlocksOfEveryDevice) {
  const std::filesystem::path file = folder_.path() / "pad.rules";
  const auto rules = builtin_rules().value();
  const auto pad = std::ranges::find(rules, "pad-output-channels", &Rule::name);
  ASSERT_NE(pad, rules.end());
  ASSERT_TRUE(write_file(file, print_rule(*pad)).has_value());
  const Graph graph = parse_graph(
                          "input x: f32[1,3,4,4]\nw = f32[22,3,1,1]{seed 1}\n"
                          "y = Conv(x, w) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}\nreturn y",
                          find_op)
                          .value();
  for (const int64_t block : {int64_t{4}, int64_t{8}, int64_t{16}}) {
    OptimizeOptions options = options_of(fmt::format("blocks_of_{}", block), graph);
    options.rules_file = file.string();
    options.costs.roofline.channel_blocks = {block};
    options.objective = Objective::parse("6000 - flops").value();  // zeros pay
    EXPECT_EQ(certify(options).tally.applications, 1U);
    const Certificate good = read(options);
    ASSERT_EQ(good.rules.size(), 1U);
    EXPECT_THAT(good.rules[0].text, HasSubstr("choose block ?m in [4, 8, 16]"));
    const auto with = [&](int64_t number) {
      Certificate bad = good;
      auto& attributes = bad.moves.at(0).applications.at(0).attributes;
      const auto chosen = std::ranges::find(attributes, "?m", &std::pair<std::string, std::string>::first);
      EXPECT_EQ(chosen->second, std::to_string(block));
      chosen->second = std::to_string(number);
      return problem_with(options, bad);
    };
    EXPECT_THAT(with(block == 16 ? 8 : 16), HasSubstr("ends with")) << "another block makes another graph";
    EXPECT_THAT(with(2), HasSubstr("not among [4,8,16]"));
  }
}

// Another rule with the hash of a true one can be found.
TEST_F(Certify, VerdictsAreOfTextsAndNotOfHashes) {
  const OptimizeOptions options = network("nasrnn");
  ASSERT_TRUE(optimize(options).has_value());
  ASSERT_FALSE(read(options).rules.empty());
  Lock lock = builtin_lock().value();
  for (LockEntry& entry : lock.entries) entry.content += " and rank(?x) == 2";
  const auto found = replay::verify_certificate(options.certificate, options.input, options.output, lock);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_THAT(found->problem, HasSubstr("the lock of verdicts does not have it"));
}

TEST_F(Certify, HoldsWhereTheOutputIsTheInput) {
  const OptimizeOptions options =
      options_of("none", parse_graph("input x: f32[4]\ny = Tanh(x)\nreturn y", find_op).value());
  EXPECT_EQ(certify(options).tally.moves, 0U);
  EXPECT_EQ(read_file(options.input).value(), read_file(options.output).value());
}

TEST_F(Certify, HoldsForSymbolicSizesAndSeveralNames) {
  const Verification found = certify(options_of("mixed", parse_graph(kMixed, find_op).value()));
  EXPECT_GT(found.tally.applications, 0U);
  EXPECT_GT(found.tally.constants, 0U);
}

TEST_F(Certify, HoldsForParameters) {
  constexpr std::string_view kParameters = R"(
    input x: f32[64,8]
    parameter w: f32[8,4]
    parameter v: f32[8,4]
    a = MatMul(x, w)
    b = MatMul(x, v)
    y = Add(a, b)
    return y)";
  const Graph graph = parse_graph(kParameters, find_op).value();
  const OptimizeOptions options = options_of("parameters", graph);
  const std::vector<Tensor> defaults = {Tensor(), Tensor::zeros(DType::Float, {8, 4}),
                                        Tensor::zeros(DType::Float, {8, 4})};
  ASSERT_TRUE(export_model(with_defaults(make_model(graph, "parameters", 17), defaults), options.input).has_value());
  EXPECT_GT(certify(options).tally.applications, 0U);
  const auto optimized = import_model(options.output);
  ASSERT_TRUE(optimized.has_value());
  EXPECT_EQ(std::ranges::count(optimized->graph.nodes(), find_op("MatMul"), &Node::op), 1);
}

/// Import numbers opaque nodes again, in the order of the file.
TEST_F(Certify, HoldsAroundOpaqueNodes) {
  const std::string attributes = R"( {@captures=0, @domain="com.example", @node="\x22\x05Magic\x3a\x0bcom.example", )"
                                 R"(@op_type="Magic", @opset=3, @instance=)";
  const auto graph = parse_graph(
      "input x: f32[2,2]\nr = Transpose(x) {perm=[1,0]}\na = Transpose(r) {perm=[1,0]}\n"
      "u = Opaque(x)" +
          attributes + "0}: f32[2]\nv = Opaque(a)" + attributes + "1}: f32[2]\nreturn v, u\n",
      find_op);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const OptimizeOptions options = options_of("opaque", *graph);
  const std::string import =
      "\x42\x0f\x0a\x0b"
      "com.example\x10\x03";  // messages of protobuf may be concatenated
  ASSERT_TRUE(write_file(options.input, read_file(options.input).value() + import).has_value());
  EXPECT_EQ(certify(options).tally.applications, 2U);
}

TEST_F(Certify, ADryRunHasNone) {
  OptimizeOptions options = network("sru-11");
  options.dry_run = true;
  EXPECT_THAT(optimize(options).error().message, HasSubstr("dry run"));
  options.dry_run = false;
  options.certificate = options.input;
  EXPECT_FALSE(optimize(options).has_value());
  options.certificate = options.output;
  EXPECT_FALSE(optimize(options).has_value());
}

TEST_F(Certify, EveryChangedByteIsFound) {
  const OptimizeOptions options = options_of("mixed", parse_graph(kMixed, find_op).value());
  certify(options);
  Rng rng(1);
  for (const auto& file : {options.input, options.output, options.certificate}) {
    const std::string whole = read_file(file).value();
    for (int i = 0; i < 400; ++i) {
      std::string changed = whole;
      const size_t at = rng.below(changed.size());
      changed[at] = static_cast<char>(changed[at] ^ (1 << rng.below(8)));
      ASSERT_TRUE(write_file(file, changed).has_value());
      EXPECT_NE(problem(options), "") << file << " byte " << at;
    }
    ASSERT_TRUE(write_file(file, whole + " ").has_value());
    EXPECT_NE(problem(options), "") << file;
    ASSERT_TRUE(write_file(file, whole.substr(0, whole.size() - 1)).has_value());
    EXPECT_NE(problem(options), "") << file;
    ASSERT_TRUE(write_file(file, whole).has_value());
  }
  EXPECT_EQ(problem(options), "");
}

TEST_F(Certify, ExternalDataAreCoveredToo) {
  OptimizeOptions options = network("sru-11");
  const Model model = import_model(options.input).value();
  ASSERT_TRUE(export_model(model, options.input, {.external_above = 0}).has_value());
  const Verification found = certify(options);
  ASSERT_EQ(found.certificate.input.data.size(), 1U);
  const auto data = folder_.path() / found.certificate.input.data[0].first;
  std::string bytes = read_file(data).value();
  bytes[bytes.size() / 2] ^= 4;
  ASSERT_TRUE(write_file(data, bytes).has_value());
  EXPECT_THAT(problem(options), HasSubstr(found.certificate.input.data[0].first));
}

TEST_F(Certify, TamperedCertificatesAreRefused) {
  const Graph graph = parse_graph(kFactors, find_op).value();
  const OptimizeOptions options = options_of("factors", graph);
  certify(options);
  const Certificate good = read(options);
  ASSERT_EQ(problem_with(options, good), "");
  ASSERT_GE(good.moves.size(), 3U);
  ASSERT_EQ(good.rules.size(), 2U);

  Certificate bad = good;  // a step left out
  bad.moves.erase(bad.moves.begin());
  EXPECT_THAT(problem_with(options, bad), HasSubstr("step 1: it begins with graph"));

  bad = good;  // all steps left out
  bad.moves.clear();
  EXPECT_THAT(problem_with(options, bad), HasSubstr("not the graph with which the replay ends"));

  bad = good;  // the last step left out
  bad.moves.pop_back();
  EXPECT_THAT(problem_with(options, bad), HasSubstr("not the graph with which the replay ends"));

  bad = good;  // another rule for the same step
  bad.moves[0].applications[0].rule = bad.rules[1].name;
  EXPECT_THAT(problem_with(options, bad), HasSubstr("step 1"));

  bad = good;  // the texts of two rules swapped
  std::swap(bad.rules[0].text, bad.rules[1].text);
  EXPECT_THAT(problem_with(options, bad), HasSubstr("rule"));

  bad = good;  // another place
  std::swap(bad.moves[0].applications[0].values[0].second, bad.moves[0].applications[0].values[1].second);
  EXPECT_THAT(problem_with(options, bad), HasSubstr("not an instance"));

  bad = good;  // another constant
  bad.moves.back().constants.at(0).second ^= 1;
  EXPECT_THAT(problem_with(options, bad), HasSubstr("but computed as"));

  bad = good;  // not to be folded
  bad.moves.back().constants.clear();
  EXPECT_THAT(problem_with(options, bad), HasSubstr("ends with"));

  bad = good;  // of other files
  bad.output.file.digest = bad.input.file.digest;
  EXPECT_THAT(problem_with(options, bad), HasSubstr("is not the file"));

  bad = good;
  bad.input.graph ^= 1;
  EXPECT_THAT(problem_with(options, bad), HasSubstr("reads as graph"));
}

/// A weaker rule of the same name, without its conditions, whose hash is in no lock.
TEST_F(Certify, RulesWithoutAVerdictAreRefused) {
  const OptimizeOptions options = network("sru-11");
  certify(options);
  const Certificate good = read(options);
  Certificate bad = good;
  std::string& text = bad.rules[0].text;
  text.erase(text.find("  where"));
  EXPECT_THAT(problem_with(options, bad), HasSubstr("its text has the hash"));
  bad.rules[0].hash = parse_rules(text).value()[0].hash();
  EXPECT_THAT(problem_with(options, bad), HasSubstr("the lock of verdicts does not have it"));
  bad = good;
  const bool proved = good.rules[0].verdict == Verdict::Proved;
  bad.rules[0].verdict = proved ? Verdict::Tested : Verdict::Proved;
  EXPECT_THAT(problem_with(options, bad), HasSubstr(proved ? "its verdict is proved" : "its verdict is tested"));
  bad = good;
  bad.rules.push_back(bad.rules[0]);
  EXPECT_THAT(problem_with(options, bad), HasSubstr("twice"));
}

/// Every false rule, under its own hash and under that of a true one.
TEST_F(Certify, FalseRulesAreRefused) {
  const OptimizeOptions options = network("sru-11");
  certify(options);
  const Certificate good = read(options);
  size_t tried = 0;
  for (const auto& file : std::filesystem::directory_iterator(ISOMER_SOURCE_DIR "/rulesets/false")) {
    const auto rules = parse_rules(read_file(file.path()).value()).value();
    for (Rule rule : rules) {
      rule.doc.clear();
      Certificate bad = good;
      bad.rules[0] = {rule.name, rule.hash(), Verdict::Tested, print_rule(rule)};
      EXPECT_THAT(problem_with(options, bad), HasSubstr("lock")) << rule.name;
      bad.rules[0].hash = good.rules[0].hash;
      EXPECT_THAT(problem_with(options, bad), HasSubstr("hash")) << rule.name;
      ++tried;
    }
  }
  EXPECT_GT(tried, 20U);
}

/// Certifies a model with three decisions, one of which is about a value that is rewritten away.
TEST_F(Certify, DecisionsOfTheOutputAreRecordedAndChecked) {
  const Graph graph = parse_graph(
                          "input x: f32[2,3,4]\na = Transpose(x) {perm=[1,2,0]}\nb = Transpose(a) {perm=[1,2,0]}\n"
                          "c = Tanh(b)\nd = Sigmoid(c)\nreturn d",
                          find_op)
                          .value();
  const OptimizeOptions options = options_of("decided", graph);
  const Model model = import_model(options.input).value();
  const std::string text =
      R"({"layouts": {"a": "blocked", "b": "plain", "c": "plain"}, "algorithms": {"d": "direct"}})";
  ASSERT_TRUE(export_model(with_metadata(model, "isomer.decisions", text), options.input).has_value());
  const Verification found = certify(options);
  EXPECT_GT(found.tally.applications, 0U);
  const Certificate good = read(options);
  EXPECT_EQ(good.decisions.layouts.at("c"), Layout::Plain);
  EXPECT_EQ(good.decisions.algorithms.at("d"), Algorithm::Direct);
  EXPECT_LE(good.decisions.layouts.size(), 2U) << "a is rewritten away";

  const auto problem_of = [&](const auto& change) {
    Certificate bad = good;
    change(bad);
    return problem_with(options, bad);
  };
  EXPECT_THAT(problem_of([](Certificate& bad) { bad.decisions.layouts["c"] = Layout::Blocked; }),
              HasSubstr("the layout of 'c' is plain, but the certificate has blocked"));
  EXPECT_THAT(problem_of([](Certificate& bad) { bad.decisions.algorithms.clear(); }),
              HasSubstr("the algorithm of 'd' is direct, but the certificate does not have it"));
  EXPECT_THAT(problem_of([](Certificate& bad) { bad.decisions.algorithms["c"] = Algorithm::Direct; }),
              HasSubstr("it leaves the algorithm of 'c' open"));
  EXPECT_THAT(problem_of([](Certificate& bad) { bad.decisions.layouts["e"] = Layout::Plain; }),
              HasSubstr("'e', a value that its graph does not have"));
  EXPECT_THAT(problem_of([](Certificate& bad) { bad.format = 2; }), HasSubstr("unknown line"));
  EXPECT_EQ(problem_of([](Certificate& bad) {
              bad.format = 2;
              bad.decisions = {};
            }),
            "")
      << "format 2 says nothing about decisions";

  // Another output file, with a stamp that fits it.
  const Model output = import_model(options.output).value();
  ASSERT_TRUE(export_model(with_metadata(output, "isomer.decisions", ""), options.output).has_value());
  const auto of_file = [&](Certificate& bad) {
    bad.output = replay::stamp_of(options.output, import_model(options.output).value()).value();
  };
  EXPECT_THAT(problem_of(of_file), HasSubstr("open, but the certificate has"));
  EXPECT_EQ(problem_of([&](Certificate& bad) {
              of_file(bad);
              bad.decisions = {};
            }),
            "");
}

TEST_F(Certify, DecisionsOfAModelThatIsReturnedAreRecordedToo) {
  const Graph graph = parse_graph("input x: f32[4]\ny = Tanh(x)\nreturn y", find_op).value();
  const OptimizeOptions options = options_of("none", graph);
  const std::string text = R"({"layouts": {"y": "plain", "gone": "blocked"}, "streams": {"y": 1}})";
  const Model model = with_metadata(import_model(options.input).value(), "isomer.decisions", text);
  ASSERT_TRUE(export_model(model, options.input).has_value());
  EXPECT_TRUE(certify(options).certificate.decisions == (replay::NamedDecisions{{{"y", Layout::Plain}}, {}}));
  EXPECT_EQ(read_file(options.input).value(), read_file(options.output).value());
}

/// An output that computes something else, with stamps that fit it.
TEST_F(Certify, AnotherOutputIsRefused) {
  const OptimizeOptions options = options_of("mixed", parse_graph(kMixed, find_op).value());
  certify(options);
  const Certificate good = read(options);
  const Model output = import_model(options.output).value();
  const auto with = [&](const std::string& what, const std::string& by) {
    std::string text = print_graph(output.graph);
    text.replace(text.find(what), what.size(), by);
    const Graph graph = parse_graph(text, find_op).value();
    EXPECT_TRUE(export_model(output.with(graph), options.output).has_value());
    Certificate bad = good;
    bad.output = replay::stamp_of(options.output, import_model(options.output).value()).value();
    return problem_with(options, bad);
  };
  EXPECT_EQ(with("{4.0,6.0}", "{4.0,6.0}"), "");
  EXPECT_THAT(with("{4.0,6.0}", "{4.0,5.999999}"), HasSubstr("its elements differ"));
  EXPECT_THAT(with("Relu", "Tanh"), HasSubstr("Relu was expected"));
}

}  // namespace
}  // namespace isomer
