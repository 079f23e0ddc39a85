#pragma once
// An engine that a Python package brings, in a process of its own: a crash there ends no search, and the engine that is
// measured is the one that users have.

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "isomer/base/temp_dir.h"
#include "isomer/engine/engine.h"
#include "isomer/engine/worker/child.h"
#include "isomer/onnx/model.h"

namespace isomer {

extern const char* const kVenvPython;  ///< the Python of the checkout that was built; may not exist any more

/// What a worker runs.
struct WorkerScript {
  std::string title;    ///< of the engine, for messages
  std::string package;  ///< the Python package that it needs
  const char* text;     ///< worker.py and the engine's own part
};

class WorkerEngine : public Engine {
 public:
  /// Starts a worker in place of the one there was, and loads into it what was loaded. An Error says which Python was
  /// tried and what it lacks.
  Status start();

  std::string version() const override { return version_; }
  int threads() const override { return options_.threads; }
  Result<SessionId> load(const std::filesystem::path& onnx) override;
  Status unload(SessionId session) override;
  Result<std::vector<Tensor>> run(SessionId session, std::span<const NamedTensor> inputs) override;
  Result<std::vector<std::vector<double>>> time_interleaved(std::span<const SessionId> sessions,
                                                            std::span<const std::vector<NamedTensor>> inputs,
                                                            const TimingOptions& options) override;

 protected:
  WorkerEngine(WorkerScript script, const EngineOptions& options);

  /// What each question about a model file says of how to load it.
  virtual nlohmann::json settings() const { return {{"threads", options_.threads}}; }
  /// Asks the worker; one that dies is replaced, and asked once more.
  Result<Message> call(const Message& question, double extra_seconds = 0);
  /// Asks about a model file that is in no session.
  Result<Message> ask_about(const std::filesystem::path& onnx, nlohmann::json header);
  /// Writes a model to a file in the folder that the worker has for its own.
  Result<std::filesystem::path> write(const Model& model, const std::string& name);
  const EngineOptions& options() const { return options_; }
  const std::string& python() const { return python_; }

 private:
  Message load_question(SessionId session, const std::filesystem::path& path) const;
  Status known(SessionId session) const;
  double patience() const;
  tl::unexpected<Error> worker_failure(const ChildFailure& failure) const;

  std::mutex running_;
  const WorkerScript script_;
  const EngineOptions options_;
  const std::string python_;
  std::string version_;
  std::map<SessionId, std::filesystem::path> sessions_;
  SessionId last_ = 0;
  double longest_call_ = 0;  // seconds
  // Before the worker that has it for its own temporary files: it goes away behind it.
  std::optional<TempDir> folder_;
  std::unique_ptr<Child> child_;
};

}  // namespace isomer
