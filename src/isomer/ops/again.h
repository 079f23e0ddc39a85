#pragma once
// The operator of graphs as they run: a value that is read again, after other values have taken its readers' memory.

#include "isomer/ir/op.h"

namespace isomer {

/// Again(x) is x. Equal nodes of a graph are shared, but a node that reads Again(x) differs from one that reads x. It
/// is no operator of models, so find_op does not know it.
const OpDef& again_op();

}  // namespace isomer
