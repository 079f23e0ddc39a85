#include "isomer/repro/autograph/autograph.h"

#include <fmt/format.h>

#include "isomer/base/processor.h"
#include "isomer/repro/items.h"

namespace isomer {

std::string built_in_runtime() {
  return fmt::format("the built-in runtime on two cores of {}; the paper runs cuDNN on an RTX 2080 Ti",
                     processor_name());
}

std::vector<ReproItem> autograph_items() {
  constexpr const char* kDrawing =
      "a drawing of two graphs; a report of `isomer optimize` lists the steps to such graphs";
  return {{"autograph-t2", "AutoGraph, Table 2: latency of networks by method", autograph_latencies()},
          {"autograph-f8", "AutoGraph, Figure 8: substitutions in a NASNet cell", {}, kDrawing},
          {"autograph-f9", "AutoGraph, Figure 9: groups of ResNeXt blocks", {}, kDrawing},
          {"autograph-f10", "AutoGraph, Figure 10: without parts of the search", autograph_ablations()},
          {"autograph-ranks", "AutoGraph's cost, and others: how they rank graphs", autograph_ranks()},
          {"autograph-f11", "AutoGraph, Figure 11: throughput by batch size", autograph_batches(), "", true}};
}

}  // namespace isomer
