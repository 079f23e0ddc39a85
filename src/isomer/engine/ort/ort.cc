#include "isomer/engine/ort/ort.h"

#include <algorithm>
#include <optional>

#include "isomer/base/stats.h"
#include "isomer/engine/ort/kernel.h"
#include "isomer/engine/ort/planner.h"
#include "isomer/engine/ort/turns.h"
#include "isomer/engine/worker/worker_engine.h"

namespace isomer {

extern const char* const kOrtWorker;

namespace {

using nlohmann::json;

constexpr const char* kCpu = "CPUExecutionProvider";

/// Returns the time of a kernel from the worker's answer.
Result<KernelTime> time_of(const json& timed, double overhead_us) {
  if (timed.contains("error")) return fail("{}", timed["error"].get<std::string>());
  const auto samples = timed["us"].get<std::vector<double>>();
  const auto launches = timed["launches"].get<double>();
  if (samples.empty()) return KernelTime{};  // ONNX Runtime removed the kernel
  return KernelTime{.us = std::max(robust_mean(samples) + launches * overhead_us, 0.0),
                    .spread = percentile(samples, 0.75) - percentile(samples, 0.25),
                    .runs = static_cast<int>(samples.size())};
}

class OrtEngine : public WorkerEngine {
 public:
  explicit OrtEngine(const EngineOptions& options)
      : WorkerEngine({.title = "ONNX Runtime", .package = "onnxruntime", .text = kOrtWorker}, options),
        provider_(options.provider.empty() ? kCpu : options.provider) {}

  /// Returns whether the worker's ONNX Runtime has the provider.
  Status check_provider();

  std::string name() const override { return "ort"; }
  std::string version() const override {
    return provider_ == kCpu ? WorkerEngine::version() : WorkerEngine::version() + " " + provider_;
  }
  std::string provider() const override { return provider_; }
  /// Providers other than the CPU's have kernels of their own, which the planner does not know.
  const KernelPlanner* planner() const override { return provider_ == kCpu ? &planner_ : nullptr; }
  std::vector<int64_t> channel_blocks() const override {
    return provider_ == kCpu && block_ > 0 ? std::vector<int64_t>{block_} : std::vector<int64_t>{};
  }
  Result<KernelTime> time_kernel(const KernelRun& run, double overhead_us) override {
    return std::move(time_kernels({&run, 1}, overhead_us)[0]);
  }
  std::vector<Result<KernelTime>> time_kernels(std::span<const KernelRun> runs, double overhead_us) override;
  /// Most of the time of a turn is spent on evicting weights.
  size_t kernels_in_turn() const override { return 16; }
  Result<double> kernel_overhead() override;

 protected:
  json settings() const override {
    return {{"threads", options().threads}, {"optimize", options().optimize}, {"provider", provider_}};
  }

 private:
  /// Writes a model to a temporary file and sends the worker a request about it.
  Result<Message> ask(const Model& model, json header);
  /// Writes the model of a kernel to a temporary file. Returns what the worker needs to know about it.
  Result<json> written(const KernelRun& run, const std::string& name);
  /// Returns the worker's answer for each of the kernels. Before each turn, so many bytes are evicted from the caches.
  Result<json> time_in_turn(json kernels, double evicted);

  const std::string provider_;
  const int64_t block_ = ort_block_channels();
  const OrtPlanner planner_{block_};
};

Status OrtEngine::check_provider() {
  if (provider_ == kCpu) return {};
  ISOMER_TRY(const Message answer, call({{{"op", "providers"}}}));
  const auto there = answer.header["providers"].get<std::vector<std::string>>();
  if (std::ranges::find(there, provider_) != there.end()) return {};
  return fail("the ONNX Runtime {} of {} has no provider '{}'; it has: {}", WorkerEngine::version(), python(),
              provider_, fmt::join(there, ", "));
}

Result<Message> OrtEngine::ask(const Model& model, json header) {
  ISOMER_TRY(const auto path, write(model, "chain.onnx"));
  header["profile"] = (path.parent_path() / "profile").string();
  return ask_about(path, std::move(header));
}

std::vector<Result<KernelTime>> OrtEngine::time_kernels(std::span<const KernelRun> runs, double overhead_us) {
  std::vector<Result<KernelTime>> times(runs.size());
  std::vector<std::optional<KernelAccess>> accesses(runs.size());
  json kernels = json::array();
  for (size_t i = 0; i < runs.size(); ++i) {
    auto kernel = written(runs[i], fmt::format("kernel{}.onnx", i));
    kernels.push_back(kernel ? std::move(*kernel) : json());
    if (kernel)
      accesses[i] = access_of(runs[i]);
    else
      times[i] = tl::unexpected<Error>(kernel.error());
  }
  const auto time = [&](std::span<const size_t> in_turn, double evicted) -> Status {
    if (deadline().passed()) return fail("no time is left to measure it");
    json asked = json::array();
    for (const size_t i : in_turn) asked.push_back(kernels[i]);
    ISOMER_TRY(const json timed, time_in_turn(std::move(asked), evicted));
    for (size_t t = 0; t < in_turn.size(); ++t) times[in_turn[t]] = time_of(timed[t], overhead_us);
    return {};
  };
  for (const Turn& turn : pack_turns(accesses)) {
    const Status all = time(turn.kernels, turn.evicted);
    if (all) continue;
    for (const size_t& i : turn.kernels) {
      // One of them may have ended the worker.
      const Status alone = turn.kernels.size() == 1 ? all : time({&i, 1}, pack_turns({&accesses[i], 1})[0].evicted);
      if (!alone) times[i] = tl::unexpected<Error>(alone.error());
    }
  }
  return times;
}

Result<json> OrtEngine::written(const KernelRun& run, const std::string& name) {
  ISOMER_TRY(const Model model, kernel_model(run));
  ISOMER_TRY(const auto path, write(model, name));
  const auto& to = run.reorder_to;
  const char* counted = !to ? "" : *to == Layout::Blocked ? "ReorderInput" : "ReorderOutput";
  return json{{"path", path.string()}, {"count", counted}};
}

Result<json> OrtEngine::time_in_turn(json kernels, double evicted) {
  ISOMER_TRY(const Model warming, warming_model());
  ISOMER_TRY(const auto warming_path, write(warming, "warming.onnx"));
  const double seconds = 0.012 + 0.003 * static_cast<double>(kernels.size());
  constexpr double kLongSeconds = 0.05;
  json question = {{"op", "kernels"},
                   {"kernels", std::move(kernels)},
                   {"warming", warming_path.string()},
                   {"profile", (warming_path.parent_path() / "profile").string()},
                   {"harness", kHarness},
                   {"evicted", evicted},
                   {"left", seconds_left()},
                   {"warmup", 2},
                   {"min_runs", 9},
                   {"min_long_runs", 5},
                   {"long_seconds", std::max(kLongSeconds, seconds)},
                   {"max_runs", 30},
                   {"seconds", seconds}};
  question.update(settings());
  ISOMER_TRY(Message answer, call({std::move(question)}));
  return std::move(answer.header["kernels"]);
}

Result<double> OrtEngine::kernel_overhead() {
  constexpr int kLength = 200;
  ISOMER_TRY(const Model model, chain_model(kLength));
  ISOMER_TRY(const Message answer, ask(model, {{"op", "overhead"}, {"runs", 200}}));
  const double whole = robust_mean(answer.header["whole"].get<std::vector<double>>());
  const double reported = robust_mean(answer.header["reported"].get<std::vector<double>>());
  return (whole - reported) / kLength;
}

}  // namespace

Result<std::unique_ptr<Engine>> make_ort_engine(const EngineOptions& options) {
  auto engine = std::make_unique<OrtEngine>(options);
  ISOMER_CHECK(engine->start());
  ISOMER_CHECK(engine->check_provider());
  return engine;
}

}  // namespace isomer
