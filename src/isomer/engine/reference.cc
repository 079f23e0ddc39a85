#include "isomer/engine/reference.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "isomer/base/version.h"
#include "isomer/onnx/import.h"
#include "isomer/runtime/reference/executor.h"

namespace isomer {
namespace {

class ReferenceEngine : public Engine {
 public:
  std::string name() const override { return "reference"; }
  std::string version() const override { return std::string(isomer::version()); }
  int threads() const override { return 1; }

  Result<SessionId> load(const std::filesystem::path& onnx) override {
    ISOMER_TRY(Model model, import_model(onnx));
    models_.emplace(++last_, std::move(model));
    return last_;
  }

  Status unload(SessionId session) override {
    if (models_.erase(session) == 0) return fail("no session {}", session);
    return {};
  }

  Result<std::vector<Tensor>> run(SessionId session, std::span<const NamedTensor> inputs) override {
    ISOMER_TRY(const Bound bound, bind(session, inputs));
    return run_reference(*bound.graph, bound.inputs);
  }

  Result<std::vector<std::vector<double>>> time_interleaved(std::span<const SessionId> sessions,
                                                            std::span<const std::vector<NamedTensor>> inputs,
                                                            const TimingOptions& options) override {
    if (sessions.size() != inputs.size()) return fail("{} sessions, {} inputs", sessions.size(), inputs.size());
    std::vector<Bound> bound;
    for (size_t i = 0; i < sessions.size(); ++i) {
      ISOMER_TRY(Bound one, bind(sessions[i], inputs[i]));
      bound.push_back(std::move(one));
    }
    std::vector<std::vector<double>> samples(bound.size());
    const auto start = Clock::now();
    for (int round = -options.warmup; round < options.max_runs; ++round) {
      if (round >= options.min_runs && seconds_since(start) >= options.seconds) break;
      for (size_t turn = 0; turn < bound.size(); ++turn) {
        const size_t which = (static_cast<size_t>(std::max(round, 0)) + turn) % bound.size();
        const auto begin = Clock::now();
        ISOMER_TRY(const auto outputs, run_reference(*bound[which].graph, bound[which].inputs));
        if (round >= 0) samples[which].push_back(1e6 * seconds_since(begin));
      }
    }
    return samples;
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Bound {
    const Graph* graph;
    std::vector<Tensor> inputs;
  };

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  /// The inputs in the graph's order.
  Result<Bound> bind(SessionId session, std::span<const NamedTensor> inputs) const {
    const auto at = models_.find(session);
    if (at == models_.end()) return fail("no session {}", session);
    const Model& model = at->second;
    Bound bound{&model.graph, {}};
    for (size_t i = 0; i < model.graph.inputs().size(); ++i) {
      const std::string input = input_name(model, i);
      const auto given = std::ranges::find(inputs, input, &NamedTensor::first);
      if (given == inputs.end()) return fail("input '{}' is not given", input);
      bound.inputs.push_back(given->second);
    }
    return bound;
  }

  std::map<SessionId, Model> models_;
  SessionId last_ = 0;
};

}  // namespace

Result<std::unique_ptr<Engine>> make_reference_engine() { return std::make_unique<ReferenceEngine>(); }

}  // namespace isomer
