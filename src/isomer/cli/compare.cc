// isomer compare: checks whether two models compute the same.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "isomer/base/printable.h"
#include "isomer/base/progress.h"
#include "isomer/base/table.h"
#include "isomer/base/version.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/eval/rounding.h"
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

/// Returns the tolerance, if it is the same for all outputs. Two graphs of one function round differently. In bf16,
/// with 8 bits, the difference is a few roundings (2^-9 each).
std::optional<double> tolerance(const CompareOptions& options) {
  if (options.tolerance_given || options.engine.options.dtype == DType::Float) return options.tolerance_given;
  return 0x1p-6;
}

/// The largest difference of one output over all inputs.
struct Row {
  std::string name;
  std::string type;
  OutputComparison worst;
  double movement = 0;  // 0: not measured
  bool differs = false;
};

/// Returns for each of `wanted` its index in `names`: by name or, if a name is missing, by order.
std::vector<size_t> pair_up(const std::vector<std::string>& wanted, const std::vector<std::string>& names) {
  std::vector<size_t> places, order;
  for (const std::string& name : wanted) {
    order.push_back(order.size());
    const auto at = std::ranges::find(names, name);
    if (at != names.end()) places.push_back(static_cast<size_t>(at - names.begin()));
  }
  return places.size() == wanted.size() ? places : order;
}

/// Returns the names of the inputs without defaults, which a run requires.
std::vector<std::string> required_inputs(const Model& model) {
  std::vector<std::string> names;
  for (size_t i = 0; i < model.graph.inputs().size(); ++i)
    if (input_default(model, i) == nullptr) names.push_back(input_name(model, i));
  return names;
}

std::vector<std::string> output_names(const Model& model) {
  std::vector<std::string> names;
  for (size_t i = 0; i < model.graph.outputs().size(); ++i) names.push_back(output_name(model, i));
  return names;
}

/// Two models with their sessions, and which inputs and outputs correspond.
struct Pair {
  Model a, b;
  SessionId session_a = 0, session_b = 0;
  std::map<std::string, std::string> inputs;  // those that a run requires
  std::vector<size_t> outputs;

  /// Returns the name in the second model of an input of the first. An input with a default has the same name in both.
  std::string counterpart(const std::string& input) const {
    const auto at = inputs.find(input);
    return at == inputs.end() ? input : at->second;
  }
};

Result<Pair> load(const CompareOptions& options, Engine& engine, FileUses& uses) {
  ISOMER_TRY(Model a, import_model(options.a, uses));
  ISOMER_TRY(Model b, import_model(options.b, uses));
  Pair pair{.a = std::move(a), .b = std::move(b), .inputs = {}, .outputs = {}};
  const auto inputs_a = required_inputs(pair.a), inputs_b = required_inputs(pair.b);
  const auto outputs_a = output_names(pair.a), outputs_b = output_names(pair.b);
  if (inputs_a.size() != inputs_b.size() || outputs_a.size() != outputs_b.size()) {
    return fail("{} has {} inputs without defaults and {} outputs, but {} has {} and {}: they cannot be compared",
                options.a, inputs_a.size(), outputs_a.size(), options.b, inputs_b.size(), outputs_b.size());
  }
  const std::vector<size_t> places = pair_up(inputs_a, inputs_b);
  for (size_t i = 0; i < places.size(); ++i) pair.inputs[inputs_a[i]] = inputs_b[places[i]];
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

/// Returns the second model's inputs with the tensors of the first's. An Error if one has no counterpart or another
/// type.
Result<std::vector<NamedTensor>> inputs_of_second(const Pair& pair, std::span<const NamedTensor> inputs_a) {
  std::vector<NamedTensor> inputs_b;
  for (const auto& [name_a, tensor] : inputs_a) {
    const std::string name = pair.counterpart(name_a);
    size_t at = 0;
    while (at < pair.b.graph.inputs().size() && input_name(pair.b, at) != name) ++at;
    if (at == pair.b.graph.inputs().size()) return fail("no input '{}'", printable(name));
    ISOMER_CHECK(check_input(name, tensor, pair.b.graph.type(pair.b.graph.inputs()[at])));
    inputs_b.emplace_back(name, tensor);
  }
  return inputs_b;
}

/// Runs both models on one set of random inputs and adds to the rows.
Status compare_once(const CompareOptions& options, Engine& engine, const Pair& pair, uint64_t seed,
                    std::vector<Row>& rows) {
  ISOMER_TRY(const auto inputs_a, in_context(options.a, random_inputs(pair.a, options.random.shapes, seed)));
  ISOMER_TRY(const auto inputs_b, in_context(options.b, inputs_of_second(pair, inputs_a)));
  ISOMER_TRY(const auto expected, in_context(options.a, engine.run(pair.session_a, inputs_a)));
  ISOMER_TRY(const auto unordered, in_context(options.b, engine.run(pair.session_b, inputs_b)));
  if (expected.size() != rows.size() || unordered.size() != rows.size()) return fail("the engine lost an output");
  Movement movement;
  const auto move = [&](Movement& more) -> Status {
    const auto changed = with_last_bits_changed(inputs_a, static_cast<uint64_t>(more.trials()) + 1);
    ISOMER_TRY(const auto moved, in_context(options.a, engine.run(pair.session_a, changed)));
    return more.account(moved, expected);
  };
  const std::optional<double> given = tolerance(options);
  Comparison comparison;
  for (size_t i = 0; i < rows.size(); ++i)
    comparison.outputs.push_back(compare_tensors(unordered[pair.outputs[i]], expected[i], kAnyReals));
  for (size_t i = 0; i < rows.size(); ++i) {
    Row& row = rows[i];
    const OutputComparison& one = comparison.outputs[i];
    ISOMER_TRY(const bool alike, differs_by_rounding(i, comparison, given, movement, move));
    row.differs |= !alike;
    if (!given && !one.within(Movement::kTolerance)) row.movement = std::max(row.movement, movement[i]);
    row.type = expected[i].type().str();
    merge(row.worst, one);
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
                 {"tolerance", tolerance(options).value_or(Movement::kTolerance)},
                 {"dtype", dtype_name(options.engine.options.dtype)},
                 {"equal", !differ},
                 {"outputs", json::array()}};
  add_provider(report, engine);
  Table table({"<output", "<type", ">max abs", ">max rel", "<"});
  for (const Row& row : rows) {
    std::string note = row.differs ? "DIFFERS: " + row.worst.str() : "";
    if (row.movement > 0)
      note +=
          fmt::format("{}max rel {:.3g} if only the last bits of inputs change", row.differs ? "; " : "", row.movement);
    table.row(
        {row.name, row.type, fmt::format("{:.3g}", row.worst.max_abs), fmt::format("{:.3g}", row.worst.max_rel), note});
    report["outputs"].push_back({{"name", row.name},
                                 {"type", row.type},
                                 {"max_abs", row.worst.max_abs},
                                 {"max_rel", row.worst.max_rel},
                                 {"movement", row.movement},
                                 {"not_finite", row.worst.not_finite},
                                 {"unequal", row.worst.beyond},
                                 {"problem", row.worst.problem},
                                 {"differs", row.differs}});
  }
  if (options.json) return print_json(report);
  const bool moves = std::ranges::any_of(rows, [](const Row& row) { return row.movement > 0; });
  fmt::print("{}{} on {} random input{} at tolerance {:g}{} ({})\n", table.str(), differ ? "DIFFERENT" : "equal",
             options.inputs, options.inputs == 1 ? "" : "s", tolerance(options).value_or(Movement::kTolerance),
             moves ? ", or more where rounding moves outputs further" : "", engine.name());
}

Result<int> compare(const CompareOptions& options, FileUses& uses) {
  ISOMER_TRY(const auto engine, options.engine.make());
  ISOMER_TRY(const Pair pair, load(options, *engine, uses));
  std::vector<Row> rows;
  for (const std::string& name : output_names(pair.a)) rows.push_back({.name = name, .type = "", .worst = {}});
  {
    Progress progress;
    for (int i = 0; i < options.inputs; ++i) {
      progress.update(fmt::format("comparing {} and {}: {}/{}", options.a, options.b, i + 1, options.inputs));
      ISOMER_CHECK(compare_once(options, *engine, pair, options.random.seed + static_cast<uint64_t>(i), rows));
    }
  }
  ISOMER_CHECK(uses.unchanged());
  bool differ = false;
  for (const Row& row : rows) differ |= row.differs;
  print_report(options, *engine, rows, differ);
  return differ ? kFinding : kDone;
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("compare", "Check whether two models give the same outputs");
  const auto options = std::make_shared<CompareOptions>();
  options->files.reads(*command, "a", options->a, "ONNX file with the expected outputs")->required();
  options->files.reads(*command, "b", options->b, "ONNX file to compare with the first")->required();
  command->add_option("--inputs", options->inputs, "Number of sets of random inputs")
      ->check(in_range(IntegerRange{.min = 1, .max = 1000000}))
      ->capture_default_str();
  command
      ->add_option(
          "--tolerance", options->tolerance_given,
          "Maximum difference, relative to an output's largest element; by default 1e-4, or up to 0.25 if the "
          "output moves far when only the last bits of inputs change, and any if it is nothing but rounding errors; "
          "in bf16 0.0156")
      ->check(in_range(NumberRange{.min = 0}));
  options->engine.add_to(*command, options->files);
  options->random.add_to(*command);
  add_json(*command, options->json);
  command->footer("Example: isomer compare model.onnx faster.onnx --inputs 10\nExit code 1: the outputs differ.");
  command->callback([options, &exit_code] {
    exit_code = finish(options->files, [&](FileUses& uses) { return compare(*options, uses); });
  });
}

}  // namespace isomer
