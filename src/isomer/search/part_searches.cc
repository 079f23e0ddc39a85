#include "isomer/search/part_searches.h"

#include <algorithm>
#include <array>
#include <limits>

#include "isomer/search/beam.h"
#include "isomer/search/restarts.h"

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

/// Backtracking without a cutoff.
PartSearch enumeration(const SearchOptions&) {
  return [](const Candidate& part, std::span<const Rule> rules, const CandidateCost& cost, const SearchLimits& limits) {
    constexpr double kNoCutoff = std::numeric_limits<double>::infinity();
    return backtrack(part, rules, cost, {.alpha = kNoCutoff, .max_uphill = 0, .limits = limits});
  };
}

}  // namespace

std::span<const NamedPartSearch> part_searches() {
  static const std::array kAll = {NamedPartSearch{"backtrack", backtracking}, NamedPartSearch{"beam", beam},
                                  NamedPartSearch{"enumerate", enumeration, true}};
  return kAll;
}

const NamedPartSearch& part_search(std::string_view name) {
  return *std::ranges::find(part_searches(), name, &NamedPartSearch::name);
}

}  // namespace isomer
