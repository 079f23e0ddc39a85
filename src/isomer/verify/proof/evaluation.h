#pragma once
// The value of mathematics where everything in it is known.

#include "isomer/base/result.h"
#include "isomer/ir/op.h"
#include "isomer/smt/scope.h"

namespace isomer {

/// What the symbols of an element stand for.
struct Assignment {
  std::map<std::string, int64_t> integers;
  std::map<std::string, Ints> lists;      ///< whose entries are integers
  std::map<std::string, double> numbers;  ///< input elements without an index
  std::map<std::string, Tensor> tensors;  ///< of one field: Field, or else Int64 and Bool
  /// The functions called by the name of this operator are this node of it; all others are operators with presets.
  const OpDef* op = nullptr;
  Attrs attrs = {};
  std::vector<DType> operand_dtypes = {};
};

/// The integer; an Error where a symbol is not known.
Result<int64_t> evaluate(const Scope& scope, const Dim& dim, const Assignment& given);
Result<bool> evaluate(const Scope& scope, const Formula& formula, const Assignment& given);

/// The element as a scalar of dtype Field or Int64 (`domain`), or, where it is a single function, of the type that the
/// operator of that name gives. Sums run over all integers in their regions. An Error where an input is read outside of
/// its extents or a sum is not bounded.
Result<Tensor> evaluate(const Scope& scope, const Element& element, const Assignment& given, DType domain);

}  // namespace isomer
