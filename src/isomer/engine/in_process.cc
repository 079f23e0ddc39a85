#include "isomer/engine/in_process.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "isomer/base/printable.h"
#include "isomer/base/stopwatch.h"
#include "isomer/onnx/import.h"

namespace isomer {
namespace {

/// Returns the tensors for a model's inputs, in its order: those given, else the defaults. An Error names an input that
/// has neither, or a tensor that is not for an input.
Result<std::vector<Tensor>> ordered_inputs(const Model& model, std::span<const NamedTensor> inputs) {
  std::vector<Tensor> ordered;
  std::vector<std::string> names;
  size_t used = 0;
  for (size_t i = 0; i < model.graph.inputs().size(); ++i) {
    names.push_back(input_name(model, i));
    const auto given = std::ranges::find(inputs, names.back(), &NamedTensor::first);
    if (given != inputs.end()) ++used;
    const Tensor* const tensor = given != inputs.end() ? &given->second : input_default(model, i);
    if (tensor == nullptr) return fail("input '{}' is not given", printable(names.back()));
    ordered.push_back(*tensor);
  }
  if (used == inputs.size()) return ordered;
  for (const auto& [name, tensor] : inputs)
    if (std::ranges::find(names, name) == names.end()) return fail("no input '{}'", printable(name));
  return fail("an input is given twice");
}

/// Short enough that the machine is much the same during one part of each model.
constexpr double kPartUs = 50e3;

}  // namespace

Result<SessionId> InProcessEngine::load(const std::filesystem::path& onnx) {
  ISOMER_TRY(Model model, import_model(onnx));
  if (const Status accepted = accept(++last_, model); !accepted) return fail_in(onnx.string(), accepted.error());
  models_.emplace(last_, std::move(model));
  return last_;
}

Status InProcessEngine::unload(SessionId session) {
  if (models_.erase(session) == 0) return fail("no session {}", session);
  return {};
}

Result<InProcessEngine::Call> InProcessEngine::call(SessionId session, std::span<const NamedTensor> inputs) const {
  const auto at = models_.find(session);
  if (at == models_.end()) return fail("no session {}", session);
  ISOMER_TRY(auto ordered, ordered_inputs(at->second, inputs));
  return Call{at->second, std::move(ordered)};
}

Result<std::unique_ptr<InProcessEngine::Run>> InProcessEngine::bind(SessionId session,
                                                                    std::span<const NamedTensor> inputs) {
  ISOMER_TRY(Call what, call(session, inputs));
  const std::lock_guard<std::mutex> lock(preparing_);
  return prepare(session, what.model, std::move(what.inputs));
}

Result<std::vector<Tensor>> InProcessEngine::run(SessionId session, std::span<const NamedTensor> inputs) {
  ISOMER_TRY(const auto once, bind(session, inputs));
  return once->whole();
}

Result<std::vector<std::vector<double>>> InProcessEngine::time_interleaved(
    std::span<const SessionId> sessions, std::span<const std::vector<NamedTensor>> inputs,
    const TimingOptions& options) {
  if (sessions.size() != inputs.size()) return fail("{} sessions, {} inputs", sessions.size(), inputs.size());
  if (sessions.empty()) return std::vector<std::vector<double>>();
  std::vector<std::unique_ptr<Run>> runs(sessions.size());
  for (size_t i = 0; i < sessions.size(); ++i) {
    ISOMER_TRY(runs[i], bind(sessions[i], inputs[i]));
  }
  std::vector<std::vector<double>> samples(runs.size());
  std::vector<double> us(runs.size(), 0);
  const Stopwatch whole;
  for (int round = -options.warmup; round < options.max_runs; ++round) {
    if (round >= options.min_runs && whole.seconds() >= options.seconds) break;
    // What else the machine does may slow it for seconds. Long runs pause for each other, so that it slows all of them.
    const bool pause = runs.size() > 1 && *std::ranges::min_element(us) >= pausing_us_;
    std::ranges::fill(us, 0);
    std::vector<size_t> left(runs.size());
    std::iota(left.begin(), left.end(), 0);
    std::ranges::rotate(left, left.begin() + std::max(round, 0) % static_cast<int>(left.size()));
    while (!left.empty()) {
      const double part_us = pause && left.size() > 1 ? kPartUs : std::numeric_limits<double>::infinity();
      std::vector<size_t> paused;
      for (const size_t i : left) {
        const Stopwatch watch;
        ISOMER_TRY(const bool ended, runs[i]->part(part_us));
        us[i] += 1e6 * watch.seconds();
        if (!ended) paused.push_back(i);
      }
      left = std::move(paused);
    }
    for (size_t i = 0; i < runs.size() && round >= 0; ++i) samples[i].push_back(us[i]);
  }
  return samples;
}

}  // namespace isomer
