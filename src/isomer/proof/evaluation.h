#pragma once
// Evaluates formulas in which all symbols are known.

#include "isomer/base/result.h"
#include "isomer/ir/op.h"
#include "isomer/smt/scope.h"

namespace isomer {

/// The values of the symbols of an element.
struct Assignment {
  std::map<std::string, int64_t> integers;
  std::map<std::string, Ints> lists;      ///< lists of integers
  std::map<std::string, double> numbers;  ///< input elements without an index
  std::map<std::string, Tensor> tensors;  ///< in one domain: Field, or else Int64 and Bool
  /// Functions with the name of this operator are evaluated with these attributes and operand types; all others are
  /// operators with preset attributes.
  const OpDef* op = nullptr;
  Attrs attrs = {};
  std::vector<DType> operand_dtypes = {};
};

/// Returns the integer; an Error if a symbol is unknown.
Result<int64_t> evaluate(const Scope& scope, const Dim& dim, const Assignment& given);
Result<bool> evaluate(const Scope& scope, const Formula& formula, const Assignment& given);

/// Returns the element as a scalar of dtype Field or Int64 (`domain`) or, if it is a single function, of the result
/// type of the operator of that name. Sums range over all integers in their regions. An Error if an input is read
/// outside of its extents or a sum is unbounded.
Result<Tensor> evaluate(const Scope& scope, const Element& element, const Assignment& given, DType domain);

}  // namespace isomer
