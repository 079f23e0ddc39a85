#include "isomer/search/sequence_of_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

/// All sequences, lowest sum first.
std::vector<PartSequence> all_sequences(size_t parts, std::span<const PartChoice> choices) {
  std::vector<PartSequence> out;
  const std::function<void(size_t, PartSequence)> extend = [&](size_t covered, const PartSequence& sequence) {
    if (covered == parts) return out.push_back(sequence);
    for (size_t c = 0; c < choices.size(); ++c) {
      if (choices[c].begin != covered) continue;
      PartSequence longer = sequence;
      longer.choices.push_back(c);
      longer.change += choices[c].change;
      extend(choices[c].end, longer);
    }
  };
  extend(0, {});
  std::ranges::stable_sort(out, {}, &PartSequence::change);
  return out;
}

TEST(SequenceOfParts, TheBestAreThoseOfAnEnumeration) {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    const size_t parts = 1 + rng.below(6);
    std::vector<PartChoice> choices;
    for (size_t i = 0; i < parts; ++i) choices.push_back({i, i + 1, 0});
    for (size_t extra = rng.below(12); extra > 0; --extra) {
      const size_t begin = rng.below(parts), end = begin + 1 + rng.below(std::min<size_t>(parts - begin, 3));
      choices.push_back({begin, end, static_cast<double>(rng.below(64)) - 48});
    }
    const size_t most = 1 + rng.below(8);
    const auto got = best_sequences(parts, choices, most);
    const auto all = all_sequences(parts, choices);
    ASSERT_EQ(got.size(), std::min(most, all.size()));
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].change, all[i].change) << round;
      double sum = 0;
      size_t covered = 0;
      for (const size_t c : got[i].choices) {
        EXPECT_EQ(choices[c].begin, covered);
        covered = choices[c].end;
        sum += choices[c].change;
      }
      EXPECT_EQ(covered, parts);
      EXPECT_EQ(sum, got[i].change);
      for (size_t j = 0; j < i; ++j) EXPECT_NE(got[i].choices, got[j].choices);
    }
  }
}

}  // namespace
}  // namespace isomer
