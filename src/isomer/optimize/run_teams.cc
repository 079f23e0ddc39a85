#include "isomer/optimize/run_teams.h"

#include <map>

namespace isomer {

std::vector<KernelInRun> kernels_in(const Trace& trace) {
  std::vector<KernelInRun> out;
  double begin = 0;
  for (const TraceSpan& span : trace.spans()) {
    if (span.category == "run") begin = span.start;
    if (span.category == "run") continue;
    const std::map<std::string, std::variant<double, std::string>> notes(span.notes.begin(), span.notes.end());
    const bool alone = std::get<double>(notes.at("threads")) > 1;
    out.push_back({.kernel = span.name,
                   .result = std::get<std::string>(notes.at("result")),
                   .stream = alone ? std::nullopt : std::optional(span.track),
                   .start_us = span.start - begin,
                   .us = span.duration});
  }
  return out;
}

Candidate with_teams_of(Candidate candidate, const std::vector<std::string>& names,
                        const std::vector<KernelInRun>& run) {
  std::map<std::string, Team> teams;
  for (const KernelInRun& kernel : run)
    if (kernel.kernel != "reorder") teams.emplace(kernel.result, kernel.stream ? Team::One : Team::All);
  for (ValueId value = 0; value < names.size(); ++value)
    if (const auto team = teams.find(names[value]); team != teams.end())
      candidate.decisions.teams.emplace(value, team->second);
  return candidate;
}

}  // namespace isomer
