// isomer run: runs a model once.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <set>

#include "isomer/base/printable.h"
#include "isomer/base/progress.h"
#include "isomer/base/table.h"
#include "isomer/base/version.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/onnx/import.h"
#include "isomer/onnx/npy.h"
#include "isomer/ops/onnx_form.h"

namespace isomer {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct RunOptions {
  CommandFiles files;
  std::string model;
  std::vector<std::string> inputs;
  std::string output_dir;
  std::string trace_file;
  EngineChoice engine;
  InputChoice random;
  bool json = false;
};

/// An input from --input.
struct GivenInput {
  std::string name;
  std::string file;
};

Result<GivenInput> parse_input(const std::string& text) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0) return fail("--input '{}': must have the form NAME=FILE.npy", text);
  return GivenInput{text.substr(0, at), text.substr(at + 1)};
}

/// Adds the tensors of "NAME=FILE.npy" to `given`. Their extents determine those of the other inputs, as --shape does.
Status read_inputs(const RunOptions& options, const Model& model, ShapeOptions& shapes,
                   std::vector<NamedTensor>& given) {
  for (const std::string& text : options.inputs) {
    ISOMER_TRY(const GivenInput input, parse_input(text));
    const std::string& name = input.name;
    if (std::ranges::find(given, name, &NamedTensor::first) != given.end())
      return fail("--input: input '{}' is given twice", printable(name));
    shapes.inputs[name] = {};
    ISOMER_CHECK(in_context(options.model, check_names(model, shapes)));
    ISOMER_TRY(Tensor tensor, read_npy(input.file));
    for (size_t i = 0; i < model.graph.inputs().size(); ++i) {
      if (input_name(model, i) != name) continue;
      ISOMER_CHECK(in_context(input.file, check_input(name, tensor, model.graph.type(model.graph.inputs()[i]))));
    }
    shapes.inputs[name] = tensor.dims();
    given.emplace_back(name, std::move(tensor));
  }
  return {};
}

Result<std::vector<NamedTensor>> make_inputs(const RunOptions& options, const Model& model) {
  ShapeOptions shapes = options.random.shapes;
  std::vector<NamedTensor> given;
  ISOMER_CHECK(read_inputs(options, model, shapes, given));
  ISOMER_TRY(auto inputs, in_context(options.model, random_inputs(model, shapes, options.random.seed)));
  const auto is_given = [&](const NamedTensor& input) {
    return std::ranges::find(given, input.first, &NamedTensor::first) != given.end();
  };
  std::erase_if(inputs, is_given);
  std::ranges::move(given, std::back_inserter(inputs));
  return inputs;
}

/// Returns "min", "max" and "mean" of an output that consists of numbers, without its elements that are NaN. If there
/// are any, "nan" is their number.
json summary(const Tensor& tensor) {
  std::vector<double> numbers;
  if (tensor.dtype() == DType::Uint64) {
    const auto elements = tensor.data<uint64_t>();
    numbers.assign(elements.begin(), elements.end());
  } else if (const auto reals = float_elements(tensor)) {
    numbers.assign(reals->begin(), reals->end());
  } else if (const auto integers = int_elements(tensor)) {
    numbers.assign(integers->begin(), integers->end());
  }
  json out = json::object();
  const size_t nan = std::erase_if(numbers, [](double number) { return std::isnan(number); });
  if (nan > 0) out["nan"] = nan;
  if (numbers.empty()) return out;
  double sum = 0;
  for (const double number : numbers) sum += number;
  const auto [low, high] = std::ranges::minmax(numbers);
  out["min"] = low;
  out["max"] = high;
  out["mean"] = sum / static_cast<double>(numbers.size());
  return out;
}

/// Returns a file name for an output that differs from all earlier ones.
std::string file_name(const std::string& output, std::set<std::string>& taken) {
  std::string safe = output;
  for (char& c : safe) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && c != '.') c = '_';
  }
  if (safe.empty() || safe[0] == '.') safe = "_" + safe;
  std::string name = safe + ".npy";
  for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}-{}.npy", safe, i);
  return name;
}

/// Returns the files for the outputs; none if they are not wanted.
std::vector<fs::path> output_files(const RunOptions& options, const Model& model) {
  std::vector<fs::path> files;
  std::set<std::string> taken;
  for (size_t i = 0; i < model.graph.outputs().size() && !options.output_dir.empty(); ++i)
    files.push_back(fs::path(options.output_dir) / file_name(output_name(model, i), taken));
  return files;
}

/// Declares the files of --input and --output-dir.
Status declare_files(const RunOptions& options, std::span<const fs::path> outputs, FileUses& uses) {
  for (const std::string& text : options.inputs) {
    ISOMER_TRY(const GivenInput input, parse_input(text));
    uses.reads("--input", input.file);
  }
  for (const fs::path& file : outputs) uses.writes("--output-dir", file);
  return uses.check();
}

Result<int> run(const RunOptions& options, FileUses& uses) {
  ISOMER_TRY(const Model model, import_model(options.model, uses));
  const std::vector<fs::path> files = output_files(options, model);
  ISOMER_CHECK(declare_files(options, files, uses));
  ISOMER_TRY(const auto inputs, make_inputs(options, model));
  ISOMER_TRY(const auto engine, options.engine.make());
  ISOMER_TRY(const SessionId session, engine->load(options.model));
  Trace trace(options.model);
  const auto outputs = in_context(options.model, [&] {
    const Progress progress(fmt::format("running {} ...", options.model));
    if (options.trace_file.empty()) return engine->run(session, inputs);
    return engine->run_traced(session, inputs, trace, 0);
  }());
  if (!outputs) return tl::unexpected(outputs.error());
  ISOMER_CHECK(uses.unchanged());
  if (!options.trace_file.empty()) ISOMER_CHECK(write_trace(options.trace_file, trace));
  ISOMER_TRY(const auto loss, options.engine.loss(options.model, inputs, *outputs));

  Table table({"<output", "<type", ">min", ">max", ">mean", "<file"});
  json report = {
      {"schema", "isomer.run.v1"},   {"isomer", version()},        {"model", options.model},
      {"engine", engine->name()},    {"device", engine->device()}, {"threads", engine->threads()},
      {"seed", options.random.seed}, {"outputs", json::array()},   {"streams", options.engine.options.streams}};
  add_provider(report, *engine);
  add_precision(report, options.engine, loss);
  if (!options.output_dir.empty()) {
    std::error_code error;
    fs::create_directories(options.output_dir, error);
    if (error) return fail("{}: {}", options.output_dir, error.message());
  }
  std::string notes;
  for (size_t i = 0; i < outputs->size(); ++i) {
    const Tensor& tensor = (*outputs)[i];
    const std::string name = output_name(model, i);
    json row = summary(tensor);
    const auto number = [&](const char* key) {
      return row.contains(key) ? fmt::format("{:.6g}", row[key].get<double>()) : "";
    };
    std::vector<std::string> cells = {name, tensor.type().str(), number("min"), number("max"), number("mean"), ""};
    if (row.contains("nan"))
      notes += fmt::format("{}: {} of {} elements are NaN\n", printable(name), row["nan"].get<size_t>(),
                           tensor.element_count());
    row["name"] = name;
    row["type"] = tensor.type().str();
    if (!files.empty()) {
      ISOMER_CHECK(write_npy(files[i], tensor));
      row["file"] = cells.back() = files[i].string();
    }
    table.row(std::move(cells));
    report["outputs"].push_back(std::move(row));
  }
  if (options.json) {
    print_json(report);
  } else {
    fmt::print("{}{}{}", table.str(), notes, loss ? loss->str() + "\n" : "");
  }
  return kDone;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "Run a model once");
  const auto options = std::make_shared<RunOptions>();
  options->files.reads(*command, "model", options->model, "ONNX file")->required();
  add_repeated(*command, "--input", options->inputs,
               "NAME=FILE.npy: an input; other inputs have their default or are random");
  command->add_option("--output-dir", options->output_dir, "Folder to which the outputs are written, as .npy files")
      ->type_name("FOLDER");
  add_trace(*command, options->files, options->trace_file,
            "Write a Chrome trace of the run's kernels to this file (onednn)");
  options->engine.add_to(*command, options->files);
  options->random.add_to(*command);
  add_json(*command, options->json);
  command->footer("Example: isomer run model.onnx --input image=cat.npy --output-dir out");
  command->callback([options, &exit_code] {
    exit_code = finish(options->files, [&](FileUses& uses) { return run(*options, uses); });
  });
}

}  // namespace isomer
