#include "isomer/engine/paired.h"

#include <algorithm>
#include <iterator>

namespace isomer {

void PairedTimes::add(PairedTimes more) {
  std::ranges::move(more.first, std::back_inserter(first));
  std::ranges::move(more.second, std::back_inserter(second));
}

std::vector<double> flattened(const std::vector<std::vector<double>>& groups) {
  std::vector<double> all;
  for (const auto& group : groups) all.insert(all.end(), group.begin(), group.end());
  return all;
}

Result<PairedTimes> time_pair(Engine& engine, const std::filesystem::path& first, const std::filesystem::path& second,
                              std::span<const NamedTensor> first_inputs, std::span<const NamedTensor> second_inputs,
                              const TimingOptions& timing, int loads, const Deadline& deadline) {
  TimingOptions share = timing;
  share.seconds = timing.seconds / loads;
  share.min_runs = std::max(1, (timing.min_runs + loads - 1) / loads);
  share.max_runs = std::max(share.min_runs, timing.max_runs / loads);
  const std::vector<NamedTensor> inputs[] = {{first_inputs.begin(), first_inputs.end()},
                                             {second_inputs.begin(), second_inputs.end()}};
  if (deadline.passed()) return fail("no time is left to measure it");
  PairedTimes out;
  for (int load = 0; load < loads && (load == 0 || !deadline.passed()); ++load) {
    const bool swapped = load % 2 == 1;
    ISOMER_TRY(const SessionId one, engine.load(swapped ? second : first));
    ISOMER_TRY(const SessionId other, engine.load(swapped ? first : second));
    const SessionId sessions[] = {swapped ? other : one, swapped ? one : other};
    ISOMER_TRY(auto times, engine.time_interleaved(sessions, inputs, share));
    ISOMER_CHECK(engine.unload(one));
    ISOMER_CHECK(engine.unload(other));
    out.first.push_back(std::move(times[0]));
    out.second.push_back(std::move(times[1]));
  }
  return out;
}

}  // namespace isomer
