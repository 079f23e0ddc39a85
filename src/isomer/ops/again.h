#pragma once
// The operator that marks where a value is read again, for its second computations (plan/recomputation.h).

#include "isomer/ir/op.h"

namespace isomer {

/// Again(x) equals x. Equal nodes of a graph are shared, but a node that reads Again(x) differs from one that reads x.
/// Models do not have this operator, so find_op does not know it.
const OpDef& again_op();

}  // namespace isomer
