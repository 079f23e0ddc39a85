#include "isomer/engine/ort/ort.h"

#include <algorithm>

#include "isomer/base/stats.h"
#include "isomer/engine/ort/kernel.h"
#include "isomer/engine/ort/planner.h"
#include "isomer/engine/worker/worker_engine.h"

namespace isomer {

extern const char* const kOrtWorker;

namespace {

using nlohmann::json;

constexpr const char* kCpu = "CPUExecutionProvider";

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
  Result<KernelTime> time_kernel(const KernelRun& run, double overhead_us) override;
  Result<double> kernel_overhead() override;

 protected:
  json settings() const override {
    return {{"threads", options().threads}, {"optimize", options().optimize}, {"provider", provider_}};
  }

 private:
  /// Writes a model to a temporary file and sends the worker a request about it.
  Result<Message> ask(const Model& model, json header);

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
  ISOMER_TRY(const auto path, write(model, "kernel.onnx"));
  ISOMER_TRY(const Model warming, warming_model());
  ISOMER_TRY(const auto warming_path, write(warming, "warming.onnx"));
  header["warming"] = warming_path.string();
  header["profile"] = (path.parent_path() / "profile").string();
  return ask_about(path, std::move(header));
}

Result<KernelTime> OrtEngine::time_kernel(const KernelRun& run, double overhead_us) {
  ISOMER_TRY(const Model model, kernel_model(run));
  const char* counted = !run.reorder_to ? "" : *run.reorder_to == Layout::Blocked ? "ReorderInput" : "ReorderOutput";
  ISOMER_TRY(const Message answer, ask(model, {{"op", "kernel"},
                                               {"count", counted},
                                               {"harness", kHarness},
                                               {"distance", run.weights.distance},
                                               {"warmup", 2},
                                               {"min_runs", 9},
                                               {"max_runs", 30},
                                               {"seconds", 0.015}}));
  const auto samples = answer.header["us"].get<std::vector<double>>();
  const auto launches = answer.header["launches"].get<double>();
  if (samples.empty()) return KernelTime{};  // ONNX Runtime removed the kernel
  return KernelTime{.us = std::max(robust_mean(samples) + launches * overhead_us, 0.0),
                    .spread = percentile(samples, 0.75) - percentile(samples, 0.25),
                    .runs = static_cast<int>(samples.size())};
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
