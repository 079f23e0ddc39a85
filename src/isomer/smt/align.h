#pragma once
// Finds a change of a product's summation indices that may make it equal to another product. The result is only a
// guess: callers must check it.

#include <functional>

#include "isomer/smt/scope.h"

namespace isomer {

/// Each bound of one product in terms of the bounds of another. The map is bijective over the integers by construction:
/// every bound is plus or minus a different bound of the other product, plus terms without bounds.
using IndexChange = std::map<std::string, Dim>;

/// Calls `check` with candidate changes of the indices of `from`, and with the factor of `to` that each factor of
/// `from` should equal, until `check` returns true. Returns whether it did.
bool for_each_alignment(Scope& scope, const Product& from, const Product& to,
                        const std::function<bool(const IndexChange&, const std::vector<size_t>&)>& check);

}  // namespace isomer
