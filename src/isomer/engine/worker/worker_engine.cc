#include "isomer/engine/worker/worker_engine.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "isomer/engine/worker/wire.h"
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

}  // namespace

WorkerEngine::WorkerEngine(WorkerScript script, const EngineOptions& options)
    : script_(std::move(script)), options_(options), python_(find_python(options)) {
  set_deadline(options.deadline);
}

tl::unexpected<Error> WorkerEngine::worker_failure(const ChildFailure& failure) const {
  return fail("the {} worker ({}) {}", script_.title, python_, failure.message);
}

Status WorkerEngine::start() {
  child_.reset();
  if (!folder_) {
    ISOMER_TRY(TempDir folder, TempDir::make());
    folder_.emplace(std::move(folder));
  }
  ISOMER_TRY(child_, Child::start({python_, "-c", script_.text, folder_->path().string()}));
  const auto hello = child_->call(nullptr, patience());
  if (!hello) {
    child_.reset();
    return worker_failure(hello.error());
  }
  if (hello->header.contains("missing")) {
    child_.reset();
    return fail(
        "{} cannot import {} ({}); install it (`{} -m pip install {}`), or name in "
        "ISOMER_PYTHON a Python that has it",
        python_, script_.package, hello->header.value("missing", ""), python_, script_.package);
  }
  version_ = hello->header.value("version", "unknown");
  for (const auto& [session, path] : sessions_) {
    const Message question = load_question(session, path);
    const auto loaded = child_->call(&question, patience());
    if (loaded && !loaded->header.contains("error")) continue;
    child_.reset();
    if (!loaded) return worker_failure(loaded.error());
    return fail("{}: the new worker cannot load it: {}", path.string(), loaded->header.value("error", ""));
  }
  return {};
}

double WorkerEngine::seconds_left() const { return std::min(deadline().left(), 1e9); }

/// Returns how long to wait for an answer.
double WorkerEngine::patience() const {
  constexpr double kSlower = 10;  // than the longest call so far
  return std::min(options_.timeout_seconds,
                  deadline().left() + std::max(options_.grace_seconds, kSlower * longest_call_));
}

Result<Message> WorkerEngine::call(const Message& question, double extra_seconds) {
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

Message WorkerEngine::load_question(SessionId session, const std::filesystem::path& path) const {
  Message question{{{"op", "load"}, {"id", session}, {"path", path.string()}}};
  question.header.update(settings());
  return question;
}

Result<SessionId> WorkerEngine::load(const std::filesystem::path& onnx) {
  std::error_code error;
  const auto path = std::filesystem::absolute(onnx, error);
  if (error || ::access(path.c_str(), R_OK) != 0)
    return fail("{}: the file does not exist or cannot be read", onnx.string());
  const SessionId session = ++last_;
  const auto loaded = call(load_question(session, path));
  if (!loaded) return fail_in(onnx.string(), loaded.error());
  sessions_.emplace(session, path);
  return session;
}

Status WorkerEngine::unload(SessionId session) {
  ISOMER_CHECK(known(session));
  sessions_.erase(session);
  if (child_ == nullptr) return {};
  return call({{{"op", "unload"}, {"id", session}}}).map([](const Message&) {});
}

Status WorkerEngine::known(SessionId session) const {
  if (!sessions_.contains(session)) return fail("no session {}", session);
  return {};
}

Result<std::vector<Tensor>> WorkerEngine::run(SessionId session, std::span<const NamedTensor> inputs) {
  const std::lock_guard<std::mutex> lock(running_);  // the worker answers one request at a time
  ISOMER_CHECK(known(session));
  Message question{{{"op", "run"}, {"id", session}}};
  question.header["inputs"] = encode_tensors(inputs, question.payload);
  ISOMER_TRY(Message answer, call(question));
  return decode_tensors(answer.header["outputs"], answer.payload);
}

Result<std::vector<std::vector<double>>> WorkerEngine::time_interleaved(
    std::span<const SessionId> sessions, std::span<const std::vector<NamedTensor>> inputs,
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

Result<std::filesystem::path> WorkerEngine::write(const Model& model, const std::string& name) {
  if (child_ == nullptr) ISOMER_CHECK(start());
  auto path = folder_->path() / name;
  ISOMER_CHECK(export_model(model, path));
  return path;
}

Result<Message> WorkerEngine::ask_about(const std::filesystem::path& onnx, json header) {
  header["path"] = onnx.string();
  header.update(settings());
  return call({std::move(header)});
}

}  // namespace isomer
