#pragma once
// Whether two graphs over the same inputs compute the same, on random values of several kinds.

#include <set>

#include "isomer/ir/graph.h"

namespace isomer {

struct PairComparison {
  enum class Outcome : uint8_t {
    Exact,    ///< equal where arithmetic is exact, and close in double precision where the first graph gives a number
    Close,    ///< close in double precision, but not shown to be equal
    Differs,  ///< not close
    Failed,   ///< not to be evaluated
  };
  Outcome outcome = Outcome::Failed;
  /// Equal to the last bit in double precision: nothing is rounded in another order.
  bool same_rounding = true;
  std::string text;  ///< Differs: inputs, and what the graphs give; Close and Failed: the reason
};

/// Compares graphs with inputs of known extents. Constants whose content hash is in `weights` take random values, alike
/// in both graphs: they stand for any weights. All others keep theirs.
PairComparison compare_graphs(const Graph& before, const Graph& after, const std::set<uint64_t>& weights = {});

/// Whether the graphs give the same to the last bit where all reals between operators have 16 bits. An operator may
/// compute in more bits inside, but rounds what it hands on: one operator may so round once where its parts round
/// twice, of which doubles say nothing. Both must run; values and `weights` as above.
bool same_in_16_bits(const Graph& before, const Graph& after, const std::set<uint64_t>& weights = {});

/// Whether, of large reals, `after` gives an infinity or NaN where `before` gives a number: Exp(x) / Exp(y) is equal to
/// Exp(x - y), but of no use where x is 1000. Values and `weights` as above; false where one does not run.
bool overflows(const Graph& before, const Graph& after, const std::set<uint64_t>& weights = {});

}  // namespace isomer
