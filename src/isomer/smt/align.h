#pragma once
// A change of a product's summation indices that may make it equal to another product. A guess: who uses it must check.

#include <functional>

#include "isomer/smt/scope.h"

namespace isomer {

/// What each bound of one product is in terms of another's. One to one over the integers by construction: every bound
/// is plus or minus a bound of the other product, each taken once, plus what depends on no bound.
using IndexChange = std::map<std::string, Dim>;

/// Calls `check` with changes of the indices of `from` and with which factor of `to` each of its factors shall equal,
/// until it returns true. Returns whether it did.
bool for_each_alignment(Scope& scope, const Product& from, const Product& to,
                        const std::function<bool(const IndexChange&, const std::vector<size_t>&)>& check);

}  // namespace isomer
