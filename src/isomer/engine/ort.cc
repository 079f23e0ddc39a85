#include "isomer/engine/ort.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

#include "isomer/base/stats.h"
#include "isomer/base/temp_dir.h"
#include "isomer/engine/ort_kernel.h"
#include "isomer/engine/ort_planner.h"
#include "isomer/engine/ort_worker.h"
#include "isomer/engine/wire.h"
#include "isomer/onnx/export.h"

namespace isomer {
namespace {

using nlohmann::json;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string find_python(const EngineOptions& options) {
  if (!options.python.empty()) return options.python;
  if (const char* set = std::getenv("ISOMER_PYTHON"); set != nullptr && *set != '\0') return set;
  return ::access(kVenvPython, X_OK) == 0 ? kVenvPython : "python3";
}

class OrtEngine : public Engine {
 public:
  explicit OrtEngine(const EngineOptions& options) : options_(options), python_(find_python(options)) {
    set_deadline(options.deadline);
  }

  /// Starts a worker in place of the one there was, and loads into it what was loaded.
  Status start();

  std::string name() const override { return "ort"; }
  std::string version() const override { return version_; }
  int threads() const override { return options_.threads; }
  Result<SessionId> load(const std::filesystem::path& onnx) override;
  Status unload(SessionId session) override;
  Result<std::vector<Tensor>> run(SessionId session, std::span<const NamedTensor> inputs) override;
  Result<std::vector<std::vector<double>>> time_interleaved(std::span<const SessionId> sessions,
                                                            std::span<const std::vector<NamedTensor>> inputs,
                                                            const TimingOptions& options) override;
  const KernelPlanner* planner() const override { return &planner_; }
  Result<KernelTime> time_kernel(const KernelRun& run, double overhead_us) override;
  Result<double> kernel_overhead() override;

 private:
  /// Writes a model to a temporary file and asks the worker about it.
  Result<Message> ask_about(const Model& model, json header);
  Message load_question(SessionId session, const std::filesystem::path& path) const;
  Status known(SessionId session) const;
  Result<Message> call(const Message& question, double extra_seconds = 0);
  double patience() const;
  tl::unexpected<Error> worker_failure(const ChildFailure& failure) const;

  std::mutex running_;
  EngineOptions options_;
  std::string python_;
  std::string version_;
  const OrtPlanner planner_{ort_block_channels()};
  std::map<SessionId, std::filesystem::path> sessions_;
  SessionId last_ = 0;
  double longest_call_ = 0;  // seconds
  // Before the worker that has it for its own temporary files: it goes away behind it.
  std::optional<TempDir> folder_;
  std::unique_ptr<Child> child_;
};

tl::unexpected<Error> OrtEngine::worker_failure(const ChildFailure& failure) const {
  return fail("the ONNX Runtime worker ({}) {}", python_, failure.message);
}

Status OrtEngine::start() {
  child_.reset();
  if (!folder_) {
    ISOMER_TRY(TempDir folder, TempDir::make());
    folder_.emplace(std::move(folder));
  }
  ISOMER_TRY(child_, Child::start({python_, "-c", kOrtWorker, folder_->path().string()}));
  const auto hello = child_->call(nullptr, patience());
  if (!hello) {
    child_.reset();
    return worker_failure(hello.error());
  }
  if (hello->header.contains("missing")) {
    child_.reset();
    return fail(
        "{} cannot import onnxruntime ({}); install it (`{} -m pip install onnxruntime`), or name in "
        "ISOMER_PYTHON a Python that has it",
        python_, hello->header.value("missing", ""), python_);
  }
  version_ = hello->header.value("version", "unknown");
  for (const auto& [session, path] : sessions_) {
    const Message question = load_question(session, path);
    const auto loaded = child_->call(&question, patience());
    if (loaded && !loaded->header.contains("error")) continue;
    child_.reset();
    if (!loaded) return worker_failure(loaded.error());
    return fail("{}: cannot be loaded again: {}", path.string(), loaded->header.value("error", ""));
  }
  return {};
}

/// How long to wait for an answer.
double OrtEngine::patience() const {
  constexpr double kSlower = 10;  // than any call so far
  return std::min(options_.timeout_seconds,
                  deadline().left() + std::max(options_.grace_seconds, kSlower * longest_call_));
}

/// Asks the worker; one that dies is replaced, and asked once more.
Result<Message> OrtEngine::call(const Message& question, double extra_seconds) {
  for (int attempt = 0;; ++attempt) {
    if (child_ == nullptr) ISOMER_CHECK(start());
    const double begin = seconds_now();
    auto answer = child_->call(&question, patience() + extra_seconds);
    if (answer) {
      longest_call_ = std::max(longest_call_, seconds_now() - begin);
      if (answer->header.contains("error")) return fail("{}", answer->header.value("error", "unknown error"));
      return std::move(*answer);
    }
    child_.reset();
    if (attempt > 0 || answer.error().kind == ChildFailure::TimedOut) return worker_failure(answer.error());
  }
}

Message OrtEngine::load_question(SessionId session, const std::filesystem::path& path) const {
  return {{{"op", "load"},
           {"id", session},
           {"path", path.string()},
           {"threads", options_.threads},
           {"optimize", options_.optimize}}};
}

Result<SessionId> OrtEngine::load(const std::filesystem::path& onnx) {
  std::error_code error;
  const auto path = std::filesystem::absolute(onnx, error);
  if (error || ::access(path.c_str(), R_OK) != 0) return fail("{}: no such file, or not readable", onnx.string());
  const SessionId session = ++last_;
  const auto loaded = call(load_question(session, path));
  if (!loaded) return fail_in(onnx.string(), loaded.error());
  sessions_.emplace(session, path);
  return session;
}

Status OrtEngine::unload(SessionId session) {
  ISOMER_CHECK(known(session));
  sessions_.erase(session);
  if (child_ == nullptr) return {};
  return call({{{"op", "unload"}, {"id", session}}}).map([](const Message&) {});
}

Status OrtEngine::known(SessionId session) const {
  if (!sessions_.contains(session)) return fail("no session {}", session);
  return {};
}

Result<std::vector<Tensor>> OrtEngine::run(SessionId session, std::span<const NamedTensor> inputs) {
  const std::lock_guard<std::mutex> lock(running_);  // the worker answers one question at a time
  ISOMER_CHECK(known(session));
  Message question{{{"op", "run"}, {"id", session}}};
  question.header["inputs"] = encode_tensors(inputs, question.payload);
  auto answer = call(question);
  if (!answer) return fail_in(sessions_[session].string(), answer.error());
  return decode_tensors(answer->header["outputs"], answer->payload);
}

Result<std::vector<std::vector<double>>> OrtEngine::time_interleaved(std::span<const SessionId> sessions,
                                                                     std::span<const std::vector<NamedTensor>> inputs,
                                                                     const TimingOptions& options) {
  if (sessions.size() != inputs.size()) return fail("{} sessions, {} inputs", sessions.size(), inputs.size());
  Message question{{{"op", "time"},
                    {"warmup", options.warmup},
                    {"min_runs", options.min_runs},
                    {"max_runs", options.max_runs},
                    {"seconds", options.seconds}}};
  json& ids = question.header["ids"] = json::array();
  json& specs = question.header["inputs"] = json::array();
  for (size_t i = 0; i < sessions.size(); ++i) {
    ISOMER_CHECK(known(sessions[i]));
    ids.push_back(sessions[i]);
    specs.push_back(encode_tensors(inputs[i], question.payload));
  }
  ISOMER_TRY(const Message answer, call(question, options.seconds));
  std::vector<std::vector<double>> samples;
  for (const json& nanoseconds : answer.header["nanoseconds"]) {
    auto& of_session = samples.emplace_back();
    for (const json& one : nanoseconds) of_session.push_back(one.get<double>() / 1000);
  }
  return samples;
}

Result<Message> OrtEngine::ask_about(const Model& model, json header) {
  if (child_ == nullptr) ISOMER_CHECK(start());
  const auto& folder = folder_->path();
  const auto path = folder / "kernel.onnx";
  ISOMER_CHECK(export_model(model, path));
  ISOMER_TRY(const Model warming, warming_model());
  const auto warming_path = folder / "warming.onnx";
  ISOMER_CHECK(export_model(warming, warming_path));
  header["warming"] = warming_path.string();
  header["path"] = path.string();
  header["profile"] = (folder / "profile").string();
  header["threads"] = options_.threads;
  header["optimize"] = options_.optimize;
  return call({std::move(header)});
}

Result<KernelTime> OrtEngine::time_kernel(const KernelRun& run, double overhead_us) {
  ISOMER_TRY(const Model model, kernel_model(run));
  const char* counted = !run.reorder_to ? "" : *run.reorder_to == Layout::Blocked ? "ReorderInput" : "ReorderOutput";
  ISOMER_TRY(const Message answer, ask_about(model, {{"op", "kernel"},
                                                     {"count", counted},
                                                     {"harness", kHarness},
                                                     {"distance", run.weights.distance},
                                                     {"warmup", 2},
                                                     {"min_runs", 9},
                                                     {"max_runs", 60},
                                                     {"seconds", 0.04}}));
  const auto samples = answer.header["us"].get<std::vector<double>>();
  const auto launches = answer.header["launches"].get<double>();
  if (samples.empty()) return KernelTime{};  // nothing is left of it
  return KernelTime{.us = std::max(robust_mean(samples) + launches * overhead_us, 0.0),
                    .spread = percentile(samples, 0.75) - percentile(samples, 0.25),
                    .runs = static_cast<int>(samples.size())};
}

Result<double> OrtEngine::kernel_overhead() {
  constexpr int kLength = 200;
  ISOMER_TRY(const Model model, chain_model(kLength));
  ISOMER_TRY(const Message answer, ask_about(model, {{"op", "overhead"}, {"runs", 200}}));
  const double whole = robust_mean(answer.header["whole"].get<std::vector<double>>());
  const double reported = robust_mean(answer.header["reported"].get<std::vector<double>>());
  return (whole - reported) / kLength;
}

}  // namespace

Result<std::unique_ptr<Engine>> make_ort_engine(const EngineOptions& options) {
  auto engine = std::make_unique<OrtEngine>(options);
  ISOMER_CHECK(engine->start());
  return engine;
}

}  // namespace isomer
