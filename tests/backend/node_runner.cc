// Runs ONNX's backend tests (written as files by generate.py) on the reference executor, before and after constant
// folding; or on plans of the runtime on oneDNN.
//
//     isomer_node_tests CASES [--known FILE] [--export DIR] [--filter TEXT] [--list-opaque] [--onednn]
//
// A case is opaque when an operator in it is not declared, has no reference kernel, or is of a form that is not
// modelled. Exits with 1 when a case fails that FILE (lines "KIND/CASE: reason") does not list, or a listed one passes.

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "isomer/base/file.h"
#include "isomer/engine/onednn/plan.h"
#include "isomer/eval/compare.h"
#include "isomer/eval/executor.h"
#include "isomer/eval/fold_testing.h"
#include "isomer/ir/copy.h"
#include "isomer/ir/verify_testing.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/onnx/proto_tensor.h"

namespace fs = std::filesystem;

namespace isomer {
namespace {

struct Options {
  fs::path cases;
  fs::path known;
  fs::path export_to;
  std::string filter;
  bool list_opaque = false;
  bool onednn = false;
};

enum class Verdict { Passed, Failed, Opaque };

struct Outcome {
  Verdict verdict;
  std::string reason = {};
};

/// Reads a serialized TensorProto. Fails with the file's name if it cannot be read or is not a dense tensor.
Result<Tensor> tensor_from_pb_file(const fs::path& path) {
  ISOMER_TRY(const std::string bytes, read_file(path));
  onnx::TensorProto proto;
  if (!proto.ParseFromString(bytes)) return fail("{}: not a serialized tensor", path.string());
  ExternalData external(path.parent_path());
  auto tensor = take_tensor(proto, external);
  if (!tensor) return fail_in(path.string(), tensor.error());
  return tensor;
}

/// input_0.pb, input_1.pb, ... of a data set.
Result<std::vector<Tensor>> load_tensors(const fs::path& folder, const std::string& prefix) {
  std::vector<Tensor> tensors;
  for (size_t i = 0;; ++i) {
    const fs::path file = folder / fmt::format("{}_{}.pb", prefix, i);
    if (!fs::exists(file)) return tensors;
    ISOMER_TRY(Tensor tensor, tensor_from_pb_file(file));
    tensors.push_back(std::move(tensor));
  }
}

/// What runs a graph, and the absolute difference that it may have.
struct Runner {
  Result<std::vector<Tensor>> (*run)(const Graph&, std::span<const Tensor>);
  double atol;
};

/// What ONNX's own runner allows: two units in the last place for bfloat16.
Tolerance tolerance_of(DType dtype, double atol) {
  return {.rtol = dtype == DType::BFloat16 ? 0x1p-6 : 1e-3, .atol = atol};
}

Result<std::vector<Tensor>> run_plan(const Graph& graph, std::span<const Tensor> inputs) {
  std::vector<TensorType> types;
  for (const Tensor& input : inputs) types.push_back(input.type());
  ISOMER_TRY(const onednn::Plan plan, onednn::Plan::make(graph, types, {.tune = false}));
  return plan.run(inputs);
}

/// Fails with the first output that differs.
Status check_run(const Runner& runner, const Graph& graph, const std::vector<Tensor>& inputs,
                 const std::vector<Tensor>& expected) {
  ISOMER_TRY(const auto outputs, runner.run(graph, inputs));
  if (outputs.size() != expected.size()) return fail("{} outputs instead of {}", outputs.size(), expected.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto row = compare_tensors(outputs[i], expected[i], tolerance_of(expected[i].dtype(), runner.atol));
    if (!row.equal()) return fail("output {}: {}", i, row.str());
  }
  return {};
}

Result<Graph> verified(Graph graph) {
  ISOMER_CHECK(verify_graph(graph));
  return graph;
}

/// The graph with its inputs replaced by constants, so that folding computes what it can.
Result<Graph> with_constants(const Graph& graph, const std::vector<Tensor>& inputs) {
  GraphBuilder builder(graph.name_table());
  ISOMER_TRY(const auto outputs, copy_nodes(builder, graph, [&](ValueId value) -> Result<ValueId> {
               const Node& node = graph.producer_node(value);
               return builder.constant(inputs[static_cast<size_t>(node.attrs.integer("index"))]);
             }));
  return fold_constants(builder.finish(outputs));
}

Status check_case(const Runner& runner, const Graph& graph, const fs::path& folder) {
  for (size_t i = 0;; ++i) {
    const fs::path data = folder / fmt::format("test_data_set_{}", i);
    if (!fs::exists(data)) return {};
    ISOMER_TRY(const auto inputs, load_tensors(data, "input"));
    ISOMER_TRY(const auto expected, load_tensors(data, "output"));
    ISOMER_CHECK(check_run(runner, graph, inputs, expected));
    auto constant = with_constants(graph, inputs);
    if (constant) constant = verified(std::move(*constant));
    const Status status =
        constant ? check_run(runner, *constant, {}, expected) : tl::unexpected<Error>(constant.error());
    if (!status) return fail_in("with constant inputs", status.error());
  }
}

bool all_tensors(const Graph& graph) {
  const auto is_tensor = [&](ValueId value) { return graph.type(value).dtype != DType::Undefined; };
  const auto inputs = graph.inputs();
  return std::all_of(inputs.begin(), inputs.end(), is_tensor);
}

Outcome failed(const std::string& stage, const Error& error) {
  const bool not_modelled = error.message.find("it cannot be run: ") != std::string::npos;
  return {not_modelled ? Verdict::Opaque : Verdict::Failed, stage + ": " + error.message};
}

Outcome run_case(const Options& options, const std::string& name) {
  const auto model = import_model(options.cases / name / "model.onnx");
  if (!model) return failed("import", model.error());
  const auto folded = fold_constants(model->graph);
  if (!folded) return failed("fold", folded.error());
  if (!options.export_to.empty()) {
    fs::create_directories(options.export_to / name);
    const auto status = export_model(model->with(*folded), options.export_to / name / "model.onnx");
    if (!status) return failed("export", status.error());
  }
  for (const Graph* graph : {&model->graph, &*folded})
    if (const auto status = verify_graph(*graph); !status) return failed("verify", status.error());
  if (!all_tensors(model->graph)) return {Verdict::Opaque, "an input is not a tensor"};
  if (const auto status = runnable(model->graph); !status) return {Verdict::Opaque, status.error().message};
  // oneDNN's vectorized exponentials and logarithms are off by some units in the last place of 1, not of the result.
  const Runner runner = options.onednn ? Runner{run_plan, 1e-5} : Runner{run_reference, 1e-7};
  if (const auto status = check_case(runner, model->graph, options.cases / name); !status)
    return failed("run", status.error());
  if (const auto status = check_case(runner, *folded, options.cases / name); !status)
    return failed("run after folding", status.error());
  return {Verdict::Passed};
}

/// Names KIND/CASE of all cases, sorted.
std::vector<std::string> case_names(const Options& options) {
  std::vector<std::string> names;
  for (const auto& kind : fs::directory_iterator(options.cases)) {
    if (!kind.is_directory()) continue;
    for (const auto& entry : fs::directory_iterator(kind.path())) {
      const std::string name = (kind.path().filename() / entry.path().filename()).string();
      if (fs::exists(entry.path() / "model.onnx") && name.find(options.filter) != std::string::npos)
        names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// "KIND/CASE: reason" by line; `#` starts a comment line.
std::map<std::string, std::string> read_known(const fs::path& path) {
  std::map<std::string, std::string> known;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with('#') || colon == std::string::npos) continue;
    known[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return known;
}

int run_all(const Options& options) {
  const auto known = read_known(options.known);
  size_t passed = 0;
  size_t opaque = 0;
  size_t listed = 0;
  size_t wrong = 0;
  for (const std::string& name : case_names(options)) {
    const Outcome outcome = run_case(options, name);
    const bool expected_to_fail = known.contains(name);
    if (outcome.verdict == Verdict::Opaque) {
      ++opaque;
      if (options.list_opaque) fmt::print("opaque {}: {}\n", name, outcome.reason);
    } else if (outcome.verdict == Verdict::Failed) {
      ++(expected_to_fail ? listed : wrong);
      fmt::print("{} {}: {}\n", expected_to_fail ? "known" : "FAILED", name, outcome.reason);
    } else if (expected_to_fail) {
      ++wrong;
      fmt::print("FAILED {}: it passes, but is listed among the known differences\n", name);
    } else {
      ++passed;
    }
    std::fflush(stdout);
  }
  fmt::print("{}: {} passed, {} failed, {} known differences, {} opaque\n", options.onednn ? "onednn" : "reference",
             passed, wrong, listed, opaque);
  return wrong == 0 && passed > 0 ? 0 : 1;
}

/// Nothing when the command line is wrong.
std::optional<Options> parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool has_value = i + 1 < arguments.size();
    if (argument == "--list-opaque")
      options.list_opaque = true;
    else if (argument == "--onednn")
      options.onednn = true;
    else if (argument == "--known" && has_value)
      options.known = arguments[++i];
    else if (argument == "--export" && has_value)
      options.export_to = arguments[++i];
    else if (argument == "--filter" && has_value)
      options.filter = arguments[++i];
    else if (options.cases.empty() && !argument.starts_with("--"))
      options.cases = argument;
    else
      return std::nullopt;
  }
  if (!fs::is_directory(options.cases)) return std::nullopt;
  return options;
}

}  // namespace
}  // namespace isomer

int main(int argc, char** argv) {
  const auto options = isomer::parse_options(std::vector<std::string>(argv + 1, argv + argc));
  if (!options) {
    fmt::print(
        stderr,
        "usage: isomer_node_tests CASES [--known FILE] [--export DIR] [--filter TEXT] [--list-opaque] [--onednn]\n");
    return 2;
  }
  return isomer::run_all(*options);
}
