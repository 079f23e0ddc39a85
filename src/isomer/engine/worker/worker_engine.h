#pragma once
// An engine of a Python package, in a separate process. A crash there does not end the search, and the engine that is
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

extern const char* const kVenvPython;  ///< the Python of the source tree that was built; it may no longer exist

/// The program of a worker.
struct WorkerScript {
  std::string title;    ///< the name of the engine in messages
  std::string package;  ///< the Python package that the worker needs
  const char* text;     ///< the source: worker.py and the engine's part
};

class WorkerEngine : public Engine {
 public:
  /// Starts a worker that replaces the current one, and loads the same models into it. An Error names the Python that
  /// was tried and what it lacks.
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

  /// Returns the part of a request about a model file that says how to load it.
  virtual nlohmann::json settings() const { return {{"threads", options_.threads}}; }
  /// Sends a request to the worker. A worker that dies is replaced and gets the request once more.
  Result<Message> call(const Message& question, double extra_seconds = 0);
  /// Sends a request about a model file that is not in a session.
  Result<Message> ask_about(const std::filesystem::path& onnx, nlohmann::json header);
  /// Writes a model to a file in the worker's temporary folder.
  Result<std::filesystem::path> write(const Model& model, const std::string& name);
  /// Returns the seconds until the deadline, at most 1e9: JSON has no infinity.
  double seconds_left() const;
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
  // Declared before the worker, which has its temporary files there, so that the folder is removed after the worker.
  std::optional<TempDir> folder_;
  std::unique_ptr<Child> child_;
};

}  // namespace isomer
