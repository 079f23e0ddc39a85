#include "isomer/search/sequence_of_parts.h"

#include <algorithm>

namespace isomer {
namespace {

/// A sequence that covers the first parts: one that covers fewer, and a choice.
struct Step {
  double change = 0;
  size_t choice = 0;
  size_t before = 0;  // number of that sequence among those that end where the choice begins
};

}  // namespace

std::vector<PartSequence> best_sequences(size_t parts, std::span<const PartChoice> choices, size_t max) {
  std::vector<std::vector<Step>> best(parts + 1);  // by the number of parts covered, lowest first
  best[0].push_back({});
  for (size_t end = 1; end <= parts; ++end) {
    std::vector<Step>& here = best[end];
    for (size_t c = 0; c < choices.size(); ++c) {
      if (choices[c].end != end) continue;
      const std::vector<Step>& before = best[choices[c].begin];
      for (size_t i = 0; i < before.size(); ++i) here.push_back({before[i].change + choices[c].change, c, i});
    }
    std::ranges::stable_sort(here, {}, &Step::change);
    if (here.size() > max) here.resize(max);
  }
  std::vector<PartSequence> out;
  for (const Step& last : best[parts]) {
    PartSequence sequence{.change = last.change};
    const Step* step = &last;
    for (size_t end = parts; end > 0;) {
      sequence.choices.push_back(step->choice);
      end = choices[step->choice].begin;
      step = &best[end][step->before];
    }
    std::ranges::reverse(sequence.choices);
    out.push_back(std::move(sequence));
  }
  return out;
}

}  // namespace isomer
