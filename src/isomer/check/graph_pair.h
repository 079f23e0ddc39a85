#pragma once
// Tests whether two graphs over the same inputs compute the same, on random values of several kinds.

#include <set>

#include "isomer/ir/graph.h"

namespace isomer {

struct PairComparison {
  enum class Outcome : uint8_t {
    Exact,    ///< equal in exact arithmetic, and close in double precision if the first graph returns a number
    Close,    ///< close in double precision, but not shown to be equal
    Differs,  ///< not close
    Failed,   ///< could not be evaluated
  };
  Outcome outcome = Outcome::Failed;
  /// Equal to the last bit in double precision: rounding happens in the same order.
  bool same_rounding = true;
  std::string text;  ///< Differs: inputs and outputs of both graphs; Close and Failed: the reason
};

/// Compares graphs with inputs of known extents. Constants whose content hash is in `weights` represent any weights:
/// they get random values, the same in both graphs. All others keep their values.
PairComparison compare_graphs(const Graph& before, const Graph& after, const std::set<uint64_t>& weights = {});

/// Returns whether the graphs compute the same to the last bit if all floating-point values between operators have 16
/// bits. An operator may compute with more bits internally, but rounds its result. So one operator may round once where
/// its equivalent parts round twice, which double precision does not show. Both must run; values and `weights` as
/// above.
bool same_in_16_bits(const Graph& before, const Graph& after, const std::set<uint64_t>& weights = {});

/// Returns whether, for large floating-point inputs, `after` computes an infinity or NaN where `before` computes a
/// number: Exp(x) / Exp(y) equals Exp(x - y), but is useless if x is 1000. Values and `weights` as above; false if one
/// does not run.
bool overflows(const Graph& before, const Graph& after, const std::set<uint64_t>& weights = {});

}  // namespace isomer
