#pragma once
// The common part of the engines that run within this process: the loaded models, their inputs in order, and timing in
// turn.

#include <map>
#include <memory>
#include <mutex>

#include "isomer/engine/engine.h"
#include "isomer/onnx/model.h"

namespace isomer {

class InProcessEngine : public Engine {
 public:
  Result<SessionId> load(const std::filesystem::path& onnx) override;
  Status unload(SessionId session) override;
  Result<std::vector<Tensor>> run(SessionId session, std::span<const NamedTensor> inputs) override;
  Result<std::vector<std::vector<double>>> time_interleaved(std::span<const SessionId> sessions,
                                                            std::span<const std::vector<NamedTensor>> inputs,
                                                            const TimingOptions& options) override;

 protected:
  /// Called with each model that is loaded. An Error refuses it.
  virtual Status accept(SessionId /*session*/, const Model& /*model*/) { return {}; }
  /// A loaded model with its inputs, to be run any number of times. Must not outlive the model.
  class Run {
   public:
    Run() = default;
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    virtual ~Run() = default;
    virtual Result<std::vector<Tensor>> whole() = 0;
    /// Begins a run, or goes on with the one that a part has begun, for at least so many microseconds or to the end.
    /// Returns whether it has ended. A run that cannot pause is one part.
    virtual Result<bool> part(double /*us*/) {
      return whole().map([](const std::vector<Tensor>&) { return true; });
    }
  };
  /// Does everything that is possible before the first run of a loaded model on these inputs, which are in its order.
  /// Not called concurrently.
  virtual Result<std::unique_ptr<Run>> prepare(SessionId session, const Model& model, std::vector<Tensor> inputs) = 0;

  /// A loaded model with the tensors for its inputs, in its order. An Error names an input that is not given and has no
  /// default.
  struct Call {
    const Model& model;
    std::vector<Tensor> inputs;
  };
  Result<Call> call(SessionId session, std::span<const NamedTensor> inputs) const;
  /// Locked while a run is prepared.
  std::mutex preparing_;
  /// When models are timed in turn, runs that took at least so long pause for each other. Shorter ones do not: what a
  /// part no longer finds in a cache would count.
  double pausing_us_ = 500e3;

 private:
  Result<std::unique_ptr<Run>> bind(SessionId session, std::span<const NamedTensor> inputs);

  std::map<SessionId, Model> models_;
  SessionId last_ = 0;
};

}  // namespace isomer
