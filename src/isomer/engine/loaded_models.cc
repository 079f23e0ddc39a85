#include "isomer/engine/loaded_models.h"

#include <algorithm>
#include <chrono>

#include "isomer/onnx/import.h"

namespace isomer {

Result<SessionId> LoadedModels::load(const std::filesystem::path& onnx) {
  ISOMER_TRY(Model model, import_model(onnx));
  models_.emplace(++last_, std::move(model));
  return last_;
}

Status LoadedModels::unload(SessionId session) {
  if (models_.erase(session) == 0) return fail("no session {}", session);
  return {};
}

Result<const Model*> LoadedModels::find(SessionId session) const {
  const auto at = models_.find(session);
  if (at == models_.end()) return fail("no session {}", session);
  return &at->second;
}

Result<std::vector<Tensor>> ordered_inputs(const Model& model, std::span<const NamedTensor> inputs) {
  std::vector<Tensor> ordered;
  for (size_t i = 0; i < model.graph.inputs().size(); ++i) {
    const std::string input = input_name(model, i);
    const auto given = std::ranges::find(inputs, input, &NamedTensor::first);
    if (given == inputs.end()) return fail("input '{}' is not given", input);
    ordered.push_back(given->second);
  }
  return ordered;
}

Result<std::vector<std::vector<double>>> time_in_turn(std::span<const std::function<Status()>> runs,
                                                      const TimingOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  std::vector<std::vector<double>> samples(runs.size());
  const auto start = Clock::now();
  for (int round = -options.warmup; round < options.max_runs; ++round) {
    if (round >= options.min_runs && seconds_since(start) >= options.seconds) break;
    for (size_t turn = 0; turn < runs.size(); ++turn) {
      const size_t which = (static_cast<size_t>(std::max(round, 0)) + turn) % runs.size();
      const auto begin = Clock::now();
      ISOMER_CHECK(runs[which]());
      if (round >= 0) samples[which].push_back(1e6 * seconds_since(begin));
    }
  }
  return samples;
}

}  // namespace isomer
