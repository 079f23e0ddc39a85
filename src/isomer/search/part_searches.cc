#include "isomer/search/part_searches.h"

#include <algorithm>
#include <array>

#include "isomer/search/beam.h"
#include "isomer/search/ocggs.h"
#include "isomer/search/restarts.h"
#include "isomer/search/sample.h"
#include "isomer/search/saturate_search.h"
#include "isomer/search/search.h"
#include "isomer/search/sequences.h"

namespace isomer {
namespace {

PartSearch backtracking(const SearchOptions& options) {
  return
      [alpha = options.alpha, max_uphill = options.max_uphill](const Candidate& part, std::span<const Rule> rules,
                                                               const CandidateCost& cost, const SearchLimits& limits) {
        const BacktrackOptions backtracking = {.alpha = alpha, .max_uphill = max_uphill, .limits = limits};
        // Without a limit on uphill steps, this is MetaFlow's algorithm 1 as it stands.
        return max_uphill == 0 ? backtrack(part, rules, cost, backtracking)
                               : backtrack_with_restarts(part, rules, cost, backtracking);
      };
}

PartSearch beam(const SearchOptions& options) {
  return [width = static_cast<size_t>(options.beam_width)](const Candidate& part, std::span<const Rule> rules,
                                                           const CandidateCost& cost, const SearchLimits& limits) {
    return beam_search(part, rules, cost, {.width = width, .limits = limits});
  };
}

/// The searches that visit all sequences of substitutions.
template <auto search>
PartSearch exact(const SearchOptions&) {
  return [](const Candidate& part, std::span<const Rule> rules, const CandidateCost& cost, const SearchLimits& limits) {
    return search(part, rules, cost, {.limits = limits});
  };
}

PartSearch sampling(const SearchOptions& options) {
  return
      [queue = static_cast<size_t>(options.queue), eta = options.eta](
          const Candidate& part, std::span<const Rule> rules, const CandidateCost& cost, const SearchLimits& limits) {
        return sample_search(part, rules, cost, {.queue = queue, .eta = eta, .sequences = {.limits = limits}});
      };
}

PartSearch saturation(const SearchOptions& options) {
  return
      [exact = options.extract == "exact", seconds = options.extract_seconds,
       nodes = static_cast<size_t>(options.egraph_nodes), iterations = static_cast<size_t>(options.egraph_iterations)](
          const Candidate& part, std::span<const Rule> rules, const CandidateCost& cost, const SearchLimits& limits) {
        return saturate_search(
            part, rules, cost,
            {.exact = exact, .extract_seconds = seconds, .nodes = nodes, .iterations = iterations, .limits = limits});
      };
}

/// The two miss different graphs: backtracking drops what costs more than alpha times the best, beam search what costs
/// more than the best few.
PartSearch backtracking_and_beam(const SearchOptions& options) {
  return [both = std::array{backtracking(options), beam(options)}](
             const Candidate& part, std::span<const Rule> rules, const CandidateCost& cost,
             const SearchLimits& limits) -> Result<FoundCandidate> {
    SearchLimits half = limits;
    half.budget = limits.budget.share(kTimeShares.backtrack);
    ISOMER_TRY(FoundCandidate best, both[0](part, rules, cost, half));
    ISOMER_TRY(FoundCandidate other, both[1](part, rules, cost, limits));
    if (other.cost_after < best.cost_after) std::swap(best, other);
    best.report.add_counts(other.report);
    best.report.also_ended(other.report.stop_reason);
    return best;
  };
}

}  // namespace

std::span<const NamedPartSearch> part_searches() {
  static const std::array kAll = {
      NamedPartSearch{"backtrack", backtracking},
      NamedPartSearch{"beam", beam},
      NamedPartSearch{"sample", sampling},
      NamedPartSearch{"saturate", saturation},
      NamedPartSearch{"enumerate", exact<enumerate_sequences>, true},
      NamedPartSearch{"prune", exact<prune_search>, true},
      NamedPartSearch{"dpp", exact<dpp_search>, true},
  };
  return kAll;
}

const NamedPartSearch& part_search(std::string_view name) {
  return *std::ranges::find(part_searches(), name, &NamedPartSearch::name);
}

const NamedPartSearch& backtrack_and_beam() {
  static const NamedPartSearch kBoth{"backtrack and beam", backtracking_and_beam};
  return kBoth;
}

}  // namespace isomer
