#pragma once
// Exact extraction by an integer program (TENSAT, Yang et al., MLSys 2021, section 5.1).

#include "isomer/base/deadline.h"
#include "isomer/egraph/extraction.h"

namespace isomer {

struct ExactExtraction {
  Extraction choices;
  double cost = 0;
  /// 0: this is the optimum. Otherwise the time limit ended the search, and the optimum may be cheaper by up to this
  /// share of `cost`.
  double gap = 0;
};

/// Returns the extraction of the lowest cost; before the deadline it may return `known`, a valid extraction, or another
/// one. Each operator and each choice is a variable of 0 or 1. Unlike TENSAT's, the constraints against cycles are
/// limited to the strongly connected components of the classes: other classes cannot be part of a cycle.
ExactExtraction extract_exactly(const ExtractionProblem& problem, const Extraction& known, const Deadline& end);

}  // namespace isomer
