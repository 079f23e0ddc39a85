// isomer compare: do two models compute the same?

#include "isomer/verify/compare.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "isomer/base/progress.h"
#include "isomer/base/table.h"
#include "isomer/base/version.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/onnx/import.h"

namespace isomer {
namespace {

using nlohmann::json;

struct CompareOptions {
  CommandFiles files;
  std::string a, b;
  int inputs = 3;
  std::optional<double> tolerance_given;
  EngineChoice engine;
  InputChoice random;
  bool json = false;
};

/// Two graphs for one function round differently: in bf16, with 8 bits, a few roundings (2^-9 each) by its end.
double tolerance(const CompareOptions& options) {
  return options.tolerance_given.value_or(options.engine.options.dtype == DType::Float ? 1e-4 : 0x1p-6);
}

/// The worst of one output over all inputs.
struct Row {
  std::string name;
  std::string type;
  OutputComparison worst;
  bool differs = false;
};

/// For each of `wanted`, its place in `names`: by name, or if one is missing there, by order.
std::vector<size_t> pair_up(const std::vector<std::string>& wanted, const std::vector<std::string>& names) {
  std::vector<size_t> places, order;
  for (const std::string& name : wanted) {
    order.push_back(order.size());
    const auto at = std::ranges::find(names, name);
    if (at != names.end()) places.push_back(static_cast<size_t>(at - names.begin()));
  }
  return places.size() == wanted.size() ? places : order;
}

std::vector<std::string> names_of(const Model& model, bool outputs) {
  std::vector<std::string> names;
  const size_t count = outputs ? model.graph.outputs().size() : model.graph.inputs().size();
  for (size_t i = 0; i < count; ++i) names.push_back(outputs ? output_name(model, i) : input_name(model, i));
  return names;
}

/// Two models with their sessions, and which input and output of the first goes with which of the second.
struct Pair {
  Model a, b;
  SessionId session_a = 0, session_b = 0;
  std::vector<size_t> inputs, outputs;
};

Result<Pair> load(const CompareOptions& options, Engine& engine, FileUses& uses) {
  ISOMER_TRY(Model a, import_model(options.a, uses));
  ISOMER_TRY(Model b, import_model(options.b, uses));
  Pair pair{.a = std::move(a), .b = std::move(b), .inputs = {}, .outputs = {}};
  const auto inputs_a = names_of(pair.a, false), inputs_b = names_of(pair.b, false);
  const auto outputs_a = names_of(pair.a, true), outputs_b = names_of(pair.b, true);
  if (inputs_a.size() != inputs_b.size() || outputs_a.size() != outputs_b.size()) {
    return fail("{} has {} inputs and {} outputs, {} has {} and {}: nothing to compare", options.a, inputs_a.size(),
                outputs_a.size(), options.b, inputs_b.size(), outputs_b.size());
  }
  pair.inputs = pair_up(inputs_a, inputs_b);
  pair.outputs = pair_up(outputs_a, outputs_b);
  ISOMER_TRY(pair.session_a, engine.load(options.a));
  ISOMER_TRY(pair.session_b, engine.load(options.b));
  return pair;
}

void merge(OutputComparison& worst, const OutputComparison& one) {
  if (worst.problem.empty()) worst.problem = one.problem;
  worst.elements += one.elements;
  worst.max_abs = std::max(worst.max_abs, one.max_abs);
  worst.max_rel = std::max(worst.max_rel, one.max_rel);
  worst.not_finite += one.not_finite;
  worst.beyond += one.beyond;
}

/// Runs both on one set of random inputs and adds to the rows.
Status compare_once(const CompareOptions& options, Engine& engine, const Pair& pair, uint64_t seed,
                    std::vector<Row>& rows) {
  ISOMER_TRY(const ShapeOptions shapes, options.random.shape_options());
  const auto inputs_a = random_inputs(pair.a, shapes, seed);
  if (!inputs_a) return fail_in(options.a, inputs_a.error());
  std::vector<NamedTensor> inputs_b;
  for (size_t i = 0; i < inputs_a->size(); ++i) {
    const size_t at = pair.inputs[i];
    const std::string name = input_name(pair.b, at);
    const auto& tensor = (*inputs_a)[i].second;
    const Status fits = check_input(name, tensor, pair.b.graph.type(pair.b.graph.inputs()[at]));
    if (!fits) return fail_in(options.b, fits.error());
    inputs_b.emplace_back(name, tensor);
  }
  ISOMER_TRY(const auto expected, engine.run(pair.session_a, *inputs_a));
  ISOMER_TRY(const auto unordered, engine.run(pair.session_b, inputs_b));
  if (expected.size() != rows.size() || unordered.size() != rows.size()) return fail("the engine lost an output");
  // Reals are judged below, relative to the largest element of their output; all else must be equal.
  const Tolerance any{.rtol = 0, .atol = std::numeric_limits<double>::infinity()};
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].type = expected[i].type().str();
    merge(rows[i].worst, compare_tensors(unordered[pair.outputs[i]], expected[i], any));
  }
  return {};
}

void print_report(const CompareOptions& options, const Engine& engine, const std::vector<Row>& rows, bool differ) {
  json report = {{"schema", "isomer.compare.v1"},
                 {"isomer", version()},
                 {"models", {options.a, options.b}},
                 {"engine", engine.name()},
                 {"engine_version", engine.version()},
                 {"inputs", options.inputs},
                 {"seed", options.random.seed},
                 {"tolerance", tolerance(options)},
                 {"dtype", dtype_name(options.engine.options.dtype)},
                 {"equal", !differ},
                 {"outputs", json::array()}};
  Table table({"<output", "<type", ">max abs", ">max rel", "<"});
  for (const Row& row : rows) {
    const std::string verdict = row.differs ? "DIFFERS: " + row.worst.str() : "";
    table.row({row.name, row.type, fmt::format("{:.3g}", row.worst.max_abs), fmt::format("{:.3g}", row.worst.max_rel),
               verdict});
    report["outputs"].push_back({{"name", row.name},
                                 {"type", row.type},
                                 {"max_abs", row.worst.max_abs},
                                 {"max_rel", row.worst.max_rel},
                                 {"not_finite", row.worst.not_finite},
                                 {"unequal", row.worst.beyond},
                                 {"problem", row.worst.problem},
                                 {"differs", row.differs}});
  }
  if (options.json) return print_json(report);
  fmt::print("{}{} on {} random input{} at tolerance {:g} ({})\n", table.str(), differ ? "DIFFERENT" : "equal",
             options.inputs, options.inputs == 1 ? "" : "s", tolerance(options), engine.name());
}

Result<int> compare(const CompareOptions& options, FileUses& uses) {
  ISOMER_TRY(const auto engine, options.engine.make());
  ISOMER_TRY(const Pair pair, load(options, *engine, uses));
  std::vector<Row> rows;
  for (const std::string& name : names_of(pair.a, true)) rows.push_back({.name = name, .type = "", .worst = {}});
  {
    Progress progress;
    for (int i = 0; i < options.inputs; ++i) {
      progress.update(fmt::format("comparing {} and {}: {}/{}", options.a, options.b, i + 1, options.inputs));
      ISOMER_CHECK(compare_once(options, *engine, pair, options.random.seed + static_cast<uint64_t>(i), rows));
    }
  }
  ISOMER_CHECK(uses.unchanged());
  bool differ = false;
  for (Row& row : rows) {
    // Written so that NaN differs.
    row.differs = !row.worst.equal() || !(row.worst.max_rel <= tolerance(options));
    differ |= row.differs;
  }
  print_report(options, *engine, rows, differ);
  return differ ? kFinding : kDone;
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("compare", "Do two models give the same outputs?");
  const auto options = std::make_shared<CompareOptions>();
  options->files.reads(*command, "a", options->a, "ONNX file: what is expected")->required();
  options->files.reads(*command, "b", options->b, "ONNX file: what is to be the same")->required();
  command->add_option("--inputs", options->inputs, "How many sets of random inputs")
      ->check(in_range(IntegerRange{.least = 1, .most = 1000000}))
      ->capture_default_str();
  command
      ->add_option("--tolerance", options->tolerance_given,
                   "Error allowed, relative to an output's largest element; else 1e-4, in bf16 0.0156")
      ->check(in_range(kTolerance));
  options->engine.add_to(*command, options->files);
  options->random.add_to(*command);
  add_json(*command, options->json);
  command->footer("Example: isomer compare model.onnx faster.onnx --inputs 10\nExit code 1: they differ.");
  command->callback([options, &exit_code] {
    exit_code = finish(options->files, [&](FileUses& uses) { return compare(*options, uses); });
  });
}

}  // namespace isomer
