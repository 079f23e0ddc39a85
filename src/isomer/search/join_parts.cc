#include "isomer/search/join_parts.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace isomer {

Spliced splice(const Candidate& whole, std::span<const FoundPart> parts) {
  std::vector<Replacement> replacements;
  replacements.reserve(parts.size());
  for (const FoundPart& one : parts) replacements.push_back({one.part, one.found});
  return splice(whole, replacements);
}

void append_steps(const Graph& before, std::span<const FoundPart> parts, uint64_t after,
                  std::vector<SearchStep>& steps) {
  Move move;
  move.before = before.hash();
  move.after = after;
  const size_t first = steps.size();
  for (const auto& [part, found] : parts) {
    if (found->report.steps.empty()) continue;
    PartRewrite& rewrite = move.parts.emplace_back();
    for (const ValueId input : part->inputs) rewrite.inputs.push_back(before.value_hash(input));
    for (const ValueId output : part->outputs) rewrite.outputs.push_back(before.value_hash(output));
    for (SearchStep step : found->report.steps) {
      std::ranges::move(step.moves, std::back_inserter(rewrite.moves));
      step.moves.clear();
      steps.push_back(std::move(step));
    }
  }
  if (!move.parts.empty()) steps[first].moves.push_back(std::move(move));
}

}  // namespace isomer
