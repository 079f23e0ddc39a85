#pragma once
// Extraction: choosing, for the classes that are needed, an operator that computes them, so that no cycle arises and
// the sum of the costs is small. An operator that several classes or operators need is paid for once.

#include <cstdint>
#include <optional>
#include <vector>

#include "isomer/base/deadline.h"

namespace isomer {

/// Classes and operators are numbered from 0.
struct ExtractionProblem {
  struct Operator {
    double cost = 0;                   ///< not negative
    std::vector<uint32_t> needs = {};  ///< classes, not necessarily distinct
  };
  std::vector<Operator> operators = {};
  std::vector<std::vector<uint32_t>> choices = {};  ///< by class: the operators that compute it
  std::vector<uint32_t> wanted = {};                ///< classes that must be computed
};

/// By class: the chosen operator. Classes that are not needed have kNotExtracted.
using Extraction = std::vector<uint32_t>;
constexpr uint32_t kNotExtracted = UINT32_MAX;

/// Returns the cost of an extraction: the sum over its operators, each once.
double extraction_cost(const ExtractionProblem& problem, const Extraction& extraction);

/// Returns the extraction without the choices for classes that are not needed; nothing if a class that is needed has
/// none, or if the choices form a cycle.
std::optional<Extraction> needed_part(const ExtractionProblem& problem, const Extraction& extraction);

/// Chooses for each class the operator with the cheapest graph below it. Within this graph, shared operators are
/// counted once. What the graph shares with the rest of the extraction is not seen, so the result is not the optimum in
/// general. After the deadline, it returns what it has found so far. Nothing if the wanted classes cannot be computed.
std::optional<Extraction> extract_greedily(const ExtractionProblem& problem, const Deadline& end = Deadline::never());
/// Returns about how many bytes extract_greedily may need.
int64_t greedy_extraction_bytes(const ExtractionProblem& problem);

}  // namespace isomer
