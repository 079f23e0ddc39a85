// isomer grad: adds the gradients of a loss to a model.

#include <algorithm>
#include <memory>
#include <set>

#include "isomer/base/near_names.h"
#include "isomer/base/printable.h"
#include "isomer/base/table.h"
#include "isomer/base/version.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/cli/optimizer_options.h"
#include "isomer/cli/plain_onnx.h"
#include "isomer/engine/inputs.h"
#include "isomer/grad/batch_norm.h"
#include "isomer/grad/gradients.h"
#include "isomer/ir/derivation.h"
#include "isomer/onnx/defaults.h"
#include "isomer/onnx/export.h"

namespace isomer {
namespace {

using nlohmann::json;

struct GradOptions {
  CommandFiles files;
  std::string model;
  std::string loss;
  std::string output;
  std::vector<std::string> wrt;
  std::vector<std::string> shapes;
  bool inputs = false;
  bool batch_statistics = false;
  OptimizerOptions optimizer;
  bool json = false;
};

/// Returns the number of nodes that are neither inputs nor constants.
size_t operators(const Graph& graph) {
  return static_cast<size_t>(
      std::ranges::count_if(graph.nodes(), [](const Node& node) { return !node.is_input() && !node.is_constant(); }));
}

/// The first names; empty if there are none.
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) shown.push_back("'" + printable(names[i]) + "'");
  if (names.size() > kShown) shown.push_back(fmt::format("and {} more", names.size() - kShown));
  return fmt::format("{}", fmt::join(shown, ", "));
}

/// Returns the index of the output with this name.
Result<size_t> find_output(const Model& model, const std::string& name) {
  std::vector<std::string> names;
  for (size_t i = 0; i < model.graph.outputs().size(); ++i) names.push_back(output_name(model, i));
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    return fail("--loss: the model has no output '{}'{}", printable(name), did_you_mean(name, names));
  return static_cast<size_t>(found - names.begin());
}

/// Returns the indices of the graph inputs for which gradients are wanted: those named by --wrt, or all parameters and,
/// on request, all inputs of real numbers; but not running statistics.
Result<std::vector<size_t>> wanted_inputs(const GradOptions& options, const Model& model, const BatchStatistics& form) {
  std::vector<std::string> names;
  for (size_t i = 0; i < model.graph.inputs().size(); ++i) names.push_back(input_name(model, i));
  const auto is_statistic = [&](const std::string& name) {
    return std::ranges::find(form.outputs, kNewValue + name) != form.outputs.end() ||
           std::ranges::find(form.frozen, name) != form.frozen.end();
  };
  std::vector<size_t> wanted;
  for (const std::string& name : options.wrt) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
      return fail("--wrt: the model has no parameter or input '{}'{}", printable(name), did_you_mean(name, names));
    const auto input = static_cast<size_t>(found - names.begin());
    if (std::ranges::find(wanted, input) == wanted.end()) wanted.push_back(input);
  }
  for (size_t i = 0; options.wrt.empty() && i < names.size(); ++i) {
    const bool real = is_real(model.graph.type(model.graph.inputs()[i]).dtype);
    if (real && (options.inputs || input_default(model, i) != nullptr) && !is_statistic(names[i])) wanted.push_back(i);
  }
  if (wanted.empty()) {
    const std::string scalars = listed(untrained_scalars(model));
    return fail(
        "the model has no parameters that nodes read outside of subgraphs{}; --inputs gives the gradients for "
        "its inputs",
        scalars.empty() ? "" : ", but numbers without axes, for which --wrt must be given: " + scalars);
  }
  return wanted;
}

/// The model that is written, and for each wanted input the output that has its gradient or its new value; no name if
/// the loss does not depend on it.
struct Differentiated {
  Model model;
  std::vector<std::string> outputs;
};

Result<Differentiated> gradients_of(const Model& model, size_t loss, std::span<const size_t> inputs) {
  std::vector<ValueId> wanted;
  for (const size_t i : inputs) wanted.push_back(model.graph.inputs()[i]);
  ISOMER_TRY(GradientGraph gradients, with_gradients(model.graph, model.graph.outputs()[loss], wanted));
  std::vector<std::string> names;
  Differentiated out;
  for (size_t k = 0; k < inputs.size(); ++k) {
    out.outputs.push_back(gradients.outputs[k] ? "grad/" + input_name(model, inputs[k]) : "");
    if (gradients.outputs[k]) names.push_back(out.outputs.back());
  }
  if (names.empty())
    return fail("the loss does not depend on {}", inputs.size() == 1
                                                      ? fmt::format("'{}'", printable(input_name(model, inputs[0])))
                                                      : "a parameter or input for which a gradient is wanted");
  ISOMER_TRY(out.model, with_more_outputs(model, std::move(gradients.graph), names));
  return out;
}

/// A training step; its state begins with zeros.
Result<Differentiated> step_of(const Model& model, size_t loss, std::span<const size_t> inputs,
                               const Optimizer& optimizer) {
  std::vector<ValueId> wanted;
  for (const size_t i : inputs) wanted.push_back(model.graph.inputs()[i]);
  ISOMER_TRY(TrainingStep step, make_training_step(model.graph, model.graph.outputs()[loss], wanted, optimizer));
  const auto names = [&](std::span<const ValueId> values, size_t first) {
    std::vector<std::string> out;
    for (const ValueId value : values.subspan(first)) out.push_back(step.graph.name(value));
    return out;
  };
  const std::vector<std::string> outputs = names(step.graph.outputs(), model.graph.outputs().size());
  const std::vector<std::string> state = names(step.graph.inputs(), step.first_state);
  Differentiated out;
  for (const size_t i : inputs) {
    const bool trained = std::ranges::find(step.parameters, i) != step.parameters.end();
    out.outputs.push_back(trained ? kNewValue + input_name(model, i) : "");
  }
  std::vector<Tensor> defaults;
  for (size_t i = 0; i < step.graph.inputs().size(); ++i) {
    const TensorType& type = step.graph.type(step.graph.inputs()[i]);
    const Tensor* const given = i < step.first_state ? input_default(model, i) : nullptr;
    if (i < step.first_state) {
      defaults.push_back(given == nullptr ? Tensor() : *given);
      continue;
    }
    const auto extents = concrete(*type.shape);
    if (!extents)
      return fail("{} is {}: the extents of its state are not known", state[defaults.size() - step.first_state],
                  type.str());
    defaults.push_back(Tensor::zeros(type.dtype, *extents));
  }
  ISOMER_TRY(const Model extended, with_more_outputs(model, std::move(step.graph), outputs, state));
  out.model = with_defaults(extended, defaults);
  return out;
}

/// The model at the first opset, from its own on, at which all nodes can be written.
Result<Model> writable(const Model& model) {
  constexpr int kNewestOpset = 21;
  const Status own = exportable(model, model.graph);
  if (own) return model;
  for (int opset = opset_of(model) + 1; opset <= kNewestOpset; ++opset) {
    const auto raised = at_opset(model, opset);
    if (!raised)
      return fail("the gradients need a later opset ({}), and the model must stay at its own: {}", own.error().message,
                  raised.error().message);
    if (exportable(*raised, raised->graph)) return *raised;
  }
  return tl::unexpected(own.error());
}

/// Says by which statistics batch normalizations normalize.
void print_normalizations(const json& norms) {
  const auto batch = norms["batch"].get<size_t>(), running = norms["running"].get<size_t>();
  if (running > 0)
    fmt::print("batch normalizations: {} by running statistics, which stay as they are; see --batch-statistics\n",
               running);
  if (batch > 0)
    fmt::print(
        "batch normalizations: {} by the statistics of the batch; {} running statistics are updated (new/NAME)\n",
        batch, norms["updated"].size());
  for (const json& name : norms["frozen"])
    fmt::print("the running statistic '{}' is not updated: something else reads it, too\n",
               printable(name.get<std::string>()));
}

void print_report(const json& report) {
  Table table({report.contains("optimizer") ? "<new value" : "<gradient", "<type"});
  for (const json& row : report["gradients"])
    table.row({printable(row["output"].get<std::string>()), row["type"].get<std::string>()});
  fmt::print("{}", table.str());
  for (const json& name : report["independent"])
    fmt::print("the loss does not depend on '{}'\n", printable(name.get<std::string>()));
  const std::string scalars = listed(report.value("scalars", std::vector<std::string>{}));
  if (!scalars.empty()) fmt::print("numbers without axes stay as they are, unless --wrt names them: {}\n", scalars);
  fmt::print("operators: {} of the model, {} with {}\n", grouped(report["operators"]["before"].get<int64_t>()),
             grouped(report["operators"]["after"].get<int64_t>()),
             report.contains("optimizer") ? "gradients and updates" : "gradients");
  if (report["opset"]["after"] != report["opset"]["before"])
    fmt::print("opset: {} instead of {}, which has not all operators of the {}\n", report["opset"]["after"].get<int>(),
               report["opset"]["before"].get<int>(), report.contains("optimizer") ? "step" : "gradients");
  print_normalizations(report["batch_normalizations"]);
  fmt::print("{}\n", plain_onnx_line(report["other_operators"].get<std::set<std::string>>()));
}

/// Reads the model for inputs of the given extents.
Result<Model> read_model(const GradOptions& options, FileUses& uses) {
  ShapeOptions shapes;
  for (const std::string& text : options.shapes) ISOMER_CHECK(in_context("--shape", add_shape_option(text, shapes)));
  if (!options.shapes.empty()) {
    ISOMER_TRY(const Model given, import_model(options.model, uses));
    ISOMER_CHECK(in_context(options.model, check_names(given, shapes)));
    ISOMER_CHECK(in_context(options.model, symbol_values(given, shapes)));
  }
  return import_model(options.model, uses,
                      {.parameters_as_inputs = true,
                       .scalars = options.wrt,
                       .statistics_as_inputs = options.batch_statistics,
                       .shapes = shapes});
}

/// Names the way out if a gradient depends on an extent that is a symbol.
template <class Value>
Result<Value> with_advice(Result<Value> made) {
  if (made || made.error().message.find("is not known") == std::string::npos) return made;
  return fail("{}; see --shape", made.error().message);
}

Result<int> grad(const GradOptions& options, FileUses& uses) {
  ISOMER_TRY(Model model, read_model(options, uses));
  ISOMER_TRY(const size_t loss, in_context(options.model, find_output(model, options.loss)));
  ISOMER_TRY(const BatchStatistics form,
             in_context(options.model, with_batch_statistics(model.graph, options.batch_statistics)));
  if (options.batch_statistics && form.batch == 0)
    return fail("{}: --batch-statistics: the model has no batch normalization", options.model);
  if (form.batch > 0) {
    ISOMER_TRY(model, in_context(options.model, with_more_outputs(model, form.graph, form.outputs)));
  }
  ISOMER_TRY(const std::vector<size_t> inputs, in_context(options.model, wanted_inputs(options, model, form)));
  const bool trains = !options.optimizer.name.empty();
  ISOMER_TRY(Differentiated out,
             in_context(options.model, with_advice(trains ? step_of(model, loss, inputs, options.optimizer.optimizer())
                                                          : gradients_of(model, loss, inputs))));
  ISOMER_TRY(out.model, in_context(options.model, writable(out.model)));
  json report = {
      {"schema", "isomer.grad.v1"},
      {"isomer", version()},
      {"model", options.model},
      {"loss", options.loss},
      {"gradients", json::array()},
      {"independent", json::array()},
      {"opset", {{"before", opset_of(model)}, {"after", opset_of(out.model)}}},
      {"operators", {{"before", operators(model.graph)}, {"after", operators(out.model.graph)}}},
      {"other_operators", foreign_operators(out.model.graph)},
      {"batch_normalizations",
       {{"batch", form.batch}, {"running", form.running}, {"updated", form.outputs}, {"frozen", form.frozen}}}};
  if (options.wrt.empty()) report["scalars"] = untrained_scalars(model);
  if (trains) report["optimizer"] = options.optimizer.name;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const std::string name = input_name(model, inputs[k]);
    if (out.outputs[k].empty()) {
      report["independent"].push_back(name);
      continue;
    }
    report["gradients"].push_back(
        {{"output", out.outputs[k]}, {"of", name}, {"type", model.graph.type(model.graph.inputs()[inputs[k]]).str()}});
  }
  ISOMER_CHECK(uses.unchanged());
  if (!options.output.empty()) {
    ISOMER_CHECK(export_model(out.model, options.output));
    report["file"] = options.output;
  }
  if (options.json) {
    print_json(report);
  } else {
    print_report(report);
  }
  return kDone;
}

}  // namespace

void add_grad(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("grad", "Add the gradients of a loss to a model");
  const auto options = std::make_shared<GradOptions>();
  options->files.reads(*command, "model", options->model, "ONNX file")->required();
  command->add_option("--loss", options->loss, "The output to differentiate: one real number")->required();
  options->files.writes(*command, "-o,--output", options->output,
                        "ONNX file to write: the model with an output grad/NAME for each gradient, or a training step");
  CLI::Option* const wrt =
      add_repeated(*command, "--wrt", options->wrt,
                   "Only the gradient for this parameter, number without axes, or input. Default: all parameters");
  CLI::Option* const inputs =
      command->add_flag("--inputs", options->inputs, "Also the gradients for the inputs of real numbers");
  inputs->excludes(wrt);
  add_repeated(
      *command, "--shape", options->shapes,
      "NAME:1,3,224,224 (extents of an input) or N=8 (value of a symbol): makes the gradients for these extents only");
  command->add_flag(
      "--batch-statistics", options->batch_statistics,
      "All batch normalizations normalize by the batch and update their running statistics, as in training");
  options->optimizer.add_to(*command, nullptr);
  inputs->excludes("--optimizer");
  add_json(*command, options->json);
  command->footer(
      "Parameters are the initializers that hold real numbers and have axes (or are named by --wrt), except the\n"
      "statistics of batch normalizations. They become inputs of the written model, with their values as defaults.\n"
      "So do statistics of batch normalizations in training form (or with --batch-statistics): an output new/NAME is\n"
      "the value of the input NAME in the next step.\n\n"
      "Example: isomer grad training.onnx --loss loss -o gradients.onnx\n"
      "With --optimizer, an output new/NAME is the value of the input NAME in the next step.");
  command->callback([options, &exit_code] {
    exit_code = finish(options->files, [&](FileUses& uses) { return grad(*options, uses); });
  });
}

}  // namespace isomer
