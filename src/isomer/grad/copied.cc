#include "isomer/grad/copied.h"

#include "isomer/ir/copy.h"

namespace isomer {

Result<std::vector<ValueId>> copy_named(GraphBuilder& builder, const Graph& graph) {
  ISOMER_TRY(std::vector<ValueId> copies, copy_values(builder, graph, [&](ValueId input) -> Result<ValueId> {
               return builder.input_like(graph, input);
             }));
  for (ValueId value = 0; value < graph.num_values(); ++value)
    if (graph.origin(value) != kNoOrigin) builder.set_origin(copies[value], graph.origin(value));
  return copies;
}

}  // namespace isomer
