// isomer models: lists and writes the benchmark networks.

#include "isomer/models/models.h"

#include <memory>

#include "isomer/base/progress.h"
#include "isomer/base/table.h"
#include "isomer/base/version.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/cli/optimizer_options.h"
#include "isomer/cli/plain_onnx.h"
#include "isomer/grad/training_network.h"
#include "isomer/onnx/defaults.h"
#include "isomer/onnx/export.h"

namespace isomer {
namespace {

using nlohmann::json;

struct ModelsOptions {
  CommandFiles files;
  std::string name;
  std::string output;
  int batch = 1;
  uint64_t seed = 0;
  bool training = false;
  OptimizerOptions optimizer;
  bool json = false;
};

int list(const ModelsOptions& options) {
  json report = {{"schema", "isomer.models.v1"}, {"isomer", version()}, {"models", json::array()}};
  Table table({"<name", "<"});
  for (const ModelEntry& entry : all_models()) {
    table.row({entry.name, entry.description});
    report["models"].push_back({{"name", entry.name}, {"description", entry.description}});
  }
  if (options.json) {
    print_json(report);
  } else {
    fmt::print("{}", table.str());
  }
  return kDone;
}

Result<Model> build(const ModelsOptions& options) {
  if (!options.training) {
    ISOMER_TRY(Graph graph, build_model(options.name, options.batch, options.seed));
    return make_model(std::move(graph), options.name, kNetworkOpset);
  }
  ISOMER_TRY(TrainingNetwork network,
             training_network(options.name, options.batch, options.seed, options.optimizer.optimizer()));
  return with_defaults(make_model(std::move(network.graph), options.name + "-training", kNetworkOpset),
                       network.initial);
}

Result<int> models(const ModelsOptions& options) {
  if (options.name.empty()) {
    if (!options.output.empty()) return fail("-o needs the name of a network; `isomer models` lists them");
    return list(options);
  }
  if (options.output.empty()) return fail("{}: an output file is needed; give -o OUT.onnx", options.name);
  const Progress progress(fmt::format("building {} ...", options.name));
  ISOMER_TRY(const Model model, build(options));
  ISOMER_CHECK(export_model(model, options.output));
  const std::set<std::string> foreign = foreign_operators(model.graph);
  if (options.json) {
    print_json({{"schema", "isomer.models.v1"},
                {"isomer", version()},
                {"name", options.name},
                {"batch", options.batch},
                {"seed", options.seed},
                {"training", options.training},
                {"nodes", model.graph.nodes().size()},
                {"other_operators", foreign},
                {"file", options.output}});
  } else if (options.training) {
    fmt::print("{}\n", plain_onnx_line(foreign));
  }
  return kDone;
}

}  // namespace

void add_models(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("models", "List or write the benchmark networks");
  const auto options = std::make_shared<ModelsOptions>();
  command->add_option("name", options->name, "The network to write; without a name, all are listed");
  options->files.writes(*command, "-o,--output", options->output, "ONNX file to write");
  command->add_option("--batch", options->batch, "Batch size")
      ->check(in_range(IntegerRange{.min = 1, .max = kMaxBatch}))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the weights")
      ->check(in_range(IntegerRange{.min = 0}))
      ->capture_default_str();
  CLI::Option* const training = command->add_flag(
      "--training", options->training,
      "Write a training step: from parameters, optimizer state and a batch of data to the loss and the new "
      "parameters and state");
  options->optimizer.add_to(*command, training);
  add_json(*command, options->json);
  command->footer(
      "Example: isomer models squeezenet -o squeezenet.onnx --batch 4\nIn a training step, an output new/NAME is the "
      "value of the input NAME in the next step.");
  command->callback([options, &exit_code] {
    const bool prints = options->json || options->training || options->name.empty();
    exit_code = finish(
        options->files, [&](FileUses&) { return models(*options); }, prints);
  });
}

}  // namespace isomer
