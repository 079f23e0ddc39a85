#pragma once
// Chooses the teams of a candidate's kernels on several streams, by runs.

#include "isomer/optimize/evaluation.h"

namespace isomer {

/// Returns whether an optimization chooses teams: on several streams with stages, if complete graphs are timed, the
/// objective is the latency, and there are no limits.
bool chooses_teams(const OptimizeOptions& options);

/// Times a candidate in turn with the same one and decided teams: those that follow from the times of its kernels; all
/// operators in parts that can be divided along axis 0; all threads for all, and one thread for all. Returns the
/// fastest; the candidate itself if no other is faster by a 95% interval, or if a kernel cannot be measured before the
/// end. Fills `report`. `model` is what the candidate is derived from.
Candidate with_fastest_teams(const OptimizeOptions& options, const Candidate& candidate, const Model& model,
                             const SymbolValues& symbols, const Evaluation& evaluation, const Budget& budget,
                             TeamsReport& report);

/// Returns the kernels of one run of a candidate. An Error if it does not run.
Result<std::vector<KernelInRun>> measured_run(const Candidate& candidate, const Evaluation& evaluation);

/// Adds a run that begins at this time of the trace, on one track for each stream. Kernels on all streams are on the
/// first one.
void add_run(const std::vector<KernelInRun>& run, const std::string& name, double start, Trace& trace);

}  // namespace isomer
