#include "isomer/repro/metaflow/torch_step.h"

#include <cmath>
#include <memory>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/engine/inputs.h"
#include "isomer/engine/worker/child.h"
#include "isomer/models/models.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/npy.h"

namespace isomer {

extern const char* const kTorchNetwork;  // generated from bench/torch_network.py
extern const char* const kTorchStep;     // generated from bench/torch_step.py

namespace {

constexpr double kTorchSeconds = 3600;  ///< a process that takes longer hangs
/// PyTorch's steps change their parameters, while each run of an engine begins with the same ones.
constexpr const char* kTorchRate = "1e-6";
constexpr double kLossTolerance = 1e-3;  ///< relative; sums are taken in another order

/// A program that runs training steps, in a folder with its data.
struct TorchStep {
  TempDir folder;
  std::string python;
};

/// The answer of the program.
struct TorchTimes {
  std::string version;
  double loss = 0;  ///< of the first step
  std::vector<double> us = {};
};

Result<TorchTimes> read_answer(const nlohmann::json& answer) {
  std::string why = "no times";
  try {
    TorchTimes out{answer.at("version"), answer.at("loss"), answer.at("microseconds")};
    if (!out.us.empty()) return out;
  } catch (const nlohmann::json::exception& error) {
    why = error.what();
  }
  return fail("sent an answer that cannot be read: {} ({})", answer.dump(), why);
}

/// Runs steps in a new process.
Result<TorchTimes> run(const TorchStep& step, const TimingOptions& timing, bool channels_last) {
  const std::filesystem::path& in = step.folder.path();
  std::vector<std::string> command{
      step.python, in / "torch_step.py", in / "network.onnx", "1", in, "--rate", kTorchRate, "--time"};
  for (const double limit : {1.0 * timing.warmup, 1.0 * timing.min_runs, 1.0 * timing.max_runs, timing.seconds})
    command.push_back(fmt::format("{}", limit));
  if (channels_last) command.emplace_back("--channels-last");
  ISOMER_TRY(const auto child, Child::start(command));
  const auto answer = child->call(nullptr, kTorchSeconds);
  auto times = answer ? read_answer(answer->header) : fail("{}", answer.error().message);
  if (!times) return fail("the training step in PyTorch ({}) {}", step.python, times.error().message);
  return times;
}

/// The loss of a step in the built-in runtime.
Result<double> loss_of(const std::filesystem::path& step, const std::vector<NamedTensor>& data) {
  ISOMER_TRY(const auto engine, make_engine("onednn"));
  ISOMER_TRY(const SessionId session, engine->load(step));
  ISOMER_TRY(const std::vector<Tensor> outputs, engine->run(session, data));
  return outputs.front().data<float>()[0];
}

}  // namespace

Result<std::vector<Contender>> torch_contenders(const std::string& python, const std::string& network, int batch,
                                                const WrittenNetwork& step) {
  ISOMER_TRY(TempDir folder, TempDir::make());
  const auto torch = std::make_shared<TorchStep>(std::move(folder), python);
  const std::filesystem::path& to = torch->folder.path();
  ISOMER_TRY(Graph graph, build_model(network, batch));
  ISOMER_CHECK(export_model(make_model(std::move(graph), network, kNetworkOpset), to / "network.onnx"));
  ISOMER_CHECK(write_file(to / "torch_network.py", kTorchNetwork));
  ISOMER_CHECK(write_file(to / "torch_step.py", kTorchStep));
  ISOMER_TRY(const std::vector<NamedTensor> data, random_inputs(step.model, {}, 1));
  for (const auto& [name, value] : data) ISOMER_CHECK(write_npy(to / (name + ".npy"), value));
  const bool images = std::ranges::any_of(data, [](const auto& one) { return one.second.dims().size() == 4; });
  ISOMER_TRY(const double loss, loss_of(step.file, data));
  std::vector<Contender> out;
  for (const bool channels_last : {false, true}) {
    if (channels_last && !images) continue;
    ISOMER_TRY(const TorchTimes one,
               run(*torch, {.warmup = 1, .min_runs = 1, .max_runs = 1, .seconds = 0}, channels_last));
    if (!(std::abs(one.loss - loss) <= kLossTolerance * std::abs(loss)))
      return fail("the loss of {} is {:g} in PyTorch, and {:g} in the built-in runtime", network, one.loss, loss);
    Contender& contender = out.emplace_back();
    contender.name = fmt::format("PyTorch {}{}", one.version, channels_last ? ", channels last" : "");
    contender.run = [torch, channels_last](const TimingOptions& timing) {
      return run(*torch, timing, channels_last).map([](TorchTimes times) { return std::move(times.us); });
    };
  }
  return out;
}

}  // namespace isomer
