#include "isomer/engine/openvino/openvino.h"

#include <algorithm>

#include "isomer/base/stats.h"
#include "isomer/engine/kernel_model.h"
#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/openvino/planner.h"
#include "isomer/engine/worker/worker_engine.h"
#include "isomer/ir/builder.h"
#include "isomer/ir/label.h"
#include "isomer/onnx/import.h"
#include "isomer/ops/registry.h"

namespace isomer {

extern const char* const kOpenvinoWorker;

namespace {

using nlohmann::json;

/// Returns the graph with each node named by its number. An opaque node needs the model around it; it is replaced by
/// outputs and inputs, since nothing is fused across it.
Result<Graph> numbered(const Graph& graph) {
  GraphBuilder builder;
  std::vector<ValueId> copies(graph.num_values());
  std::vector<ValueId> outputs;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (node.is_input()) {
      copies[node.result()] = builder.input(graph.type(node.result()));
      continue;
    }
    if (node.is_constant()) {
      copies[node.result()] = builder.constant(*graph.constant(node.result()));
      continue;
    }
    std::vector<ValueId> operands;
    for (const ValueId operand : graph.operands(node))
      operands.push_back(operand == kNoValue ? kNoValue : copies[operand]);
    if (node.is_opaque()) {
      std::ranges::copy_if(operands, std::back_inserter(outputs), [](ValueId value) { return value != kNoValue; });
      for (uint32_t i = 0; i < node.num_results; ++i)
        copies[node.result(i)] = builder.input(graph.type(node.result(i)));
      continue;
    }
    ISOMER_TRY(const NodeId copy, builder.node(*node.op, node.attrs, operands, node.num_results));
    for (uint32_t i = 0; i < node.num_results; ++i) copies[node.result(i)] = builder.at(copy).result(i);
    builder.name(builder.at(copy).result(), fmt::format("node_{}", id));
  }
  for (const ValueId output : graph.outputs()) outputs.push_back(copies[output]);
  return builder.finish(outputs);
}

/// Converts OpenVINO's names of nodes that it runs together to the numbers that `numbered` gave them.
std::vector<NodeId> numbers_of(const json& names, const Graph& graph) {
  constexpr std::string_view kPrefix = "node_";
  std::vector<NodeId> numbers;
  for (const json& each : names) {
    const auto name = each.get<std::string>();
    if (!name.starts_with(kPrefix) || name.find_first_not_of("0123456789", kPrefix.size()) != std::string::npos)
      continue;
    const auto number = std::strtoull(name.c_str() + kPrefix.size(), nullptr, 10);
    if (number < graph.nodes().size()) numbers.push_back(static_cast<NodeId>(number));
  }
  return numbers;
}

class OpenvinoEngine : public WorkerEngine {
 public:
  explicit OpenvinoEngine(const EngineOptions& options)
      : WorkerEngine({.title = "OpenVINO", .package = "openvino", .text = kOpenvinoWorker}, options),
        planner_([this](const Graph& graph) { return fusions(graph); }) {}

  std::string name() const override { return "openvino"; }
  Result<SessionId> load(const std::filesystem::path& onnx) override;
  const KernelPlanner* planner() const override { return &planner_; }
  /// OpenVINO uses oneDNN, too.
  std::vector<int64_t> channel_blocks() const override { return {onednn::native_block()}; }
  Result<KernelTime> time_kernel(const KernelRun& run, double overhead_us) override;
  Result<double> kernel_overhead() override;

 private:
  /// Asks which nodes OpenVINO runs together.
  Result<Fusions> fusions(const Graph& graph);

  const OpenvinoPlanner planner_;
};

/// If OpenVINO lacks an operator, its message names only the operator.
Result<SessionId> OpenvinoEngine::load(const std::filesystem::path& onnx) {
  auto session = WorkerEngine::load(onnx);
  if (session) return session;
  const std::string& message = session.error().message;
  constexpr std::string_view kLacks = "No conversion rule found for operations: ";
  const size_t at = message.find(kLacks);
  if (at == std::string::npos) return session;
  const std::string operators = message.substr(at + kLacks.size());
  const auto model = import_model(onnx);
  if (!model) return session;
  const Graph& graph = model->graph;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const std::string label = op_label(graph.node(id));
    const bool lacked = operators == label || operators.starts_with(label + ",") || operators.ends_with(" " + label) ||
                        operators.find(" " + label + ",") != std::string::npos;
    if (lacked) return fail("{}: OpenVINO cannot run {}", onnx.string(), node_label(graph, id));
  }
  return session;
}

Result<Fusions> OpenvinoEngine::fusions(const Graph& graph) {
  ISOMER_TRY(const Graph copy, numbered(graph));
  ISOMER_TRY(const Model model, kernel_model_of(copy));
  ISOMER_TRY(const auto path, write(model, "graph.onnx"));
  ISOMER_TRY(const Message answer, ask_about(path, {{"op", "fusions"}}));
  Fusions fusions;
  for (const json& names : answer.header["fusions"]) {
    std::vector<NodeId> numbers = numbers_of(names, graph);
    if (!numbers.empty()) fusions.push_back(std::move(numbers));
  }
  return fusions;
}

Result<KernelTime> OpenvinoEngine::time_kernel(const KernelRun& run, double overhead_us) {
  ISOMER_TRY(const Model model, kernel_model_of(run.graph));
  ISOMER_TRY(const auto path, write(model, "kernel.onnx"));
  constexpr int kRounds = 3;
  ISOMER_TRY(const Message answer, ask_about(path, {{"op", "kernel"},
                                                    {"distance", run.weights.distance},
                                                    {"left", seconds_left()},
                                                    {"rounds", kRounds},
                                                    {"warmup", 2},
                                                    {"min_runs", 5},
                                                    {"max_runs", 40},
                                                    {"seconds", 0.02}}));
  const auto samples = answer.header["us"].get<std::vector<double>>();
  const auto launches = answer.header["launches"].get<double>();
  return KernelTime{.us = std::max(median(samples) + launches * overhead_us, 0.0),
                    .spread = percentile(samples, 1) - percentile(samples, 0),
                    .runs = answer.header["runs"].get<int>()};
}

/// Times nodes that OpenVINO runs one by one.
Result<double> OpenvinoEngine::kernel_overhead() {
  constexpr int kLength = 100;
  GraphBuilder builder;
  ValueId x = builder.input({DType::Float, {1, 64}});
  for (int i = 0; i < kLength; ++i) {
    ISOMER_TRY(x, builder.add(*find_op("Softmax"), {{"axis", int64_t{1}}}, {x}));
  }
  ISOMER_TRY(const Model model, kernel_model_of(builder.finish(std::vector{x})));
  ISOMER_TRY(const auto path, write(model, "kernel.onnx"));
  ISOMER_TRY(const Message answer, ask_about(path, {{"op", "overhead"}, {"runs", 200}}));
  const double whole = robust_mean(answer.header["whole"].get<std::vector<double>>());
  return (whole - answer.header["reported"].get<double>()) / kLength;
}

}  // namespace

Result<std::unique_ptr<Engine>> make_openvino_engine(const EngineOptions& options) {
  auto engine = std::make_unique<OpenvinoEngine>(options);
  ISOMER_CHECK(engine->start());
  return engine;
}

}  // namespace isomer
