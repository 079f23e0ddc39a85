#pragma once
// Chooses how a graph is divided into parts, and what becomes of each (AutoGraph: Zhao et al., AAAI 2023, equation 2).

#include <cstddef>
#include <span>
#include <vector>

namespace isomer {

/// One of the graphs that can replace the smallest parts from `begin` to before `end`, together.
struct PartChoice {
  size_t begin = 0;
  size_t end = 0;
  double change = 0;  ///< of the cost
};

/// Choices, by number, that together cover all smallest parts once, in their order.
struct PartSequence {
  std::vector<size_t> choices = {};
  double change = 0;  ///< the sum over the choices
};

/// Returns the sequences with the lowest sums of changes, at most `max`, lowest first; of equal sums, those whose
/// choices have lower numbers. Dynamic programming over the first parts. Each smallest part must have a choice of its
/// own.
std::vector<PartSequence> best_sequences(size_t parts, std::span<const PartChoice> choices, size_t max);

}  // namespace isomer
