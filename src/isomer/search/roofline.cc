#include "isomer/search/roofline.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace isomer {
namespace {

/// Operators that only give the same bytes another shape.
bool is_view(const Node& node) {
  constexpr std::array<std::string_view, 5> kViews{"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
  return std::find(kViews.begin(), kViews.end(), node.op->name) != kViews.end();
}

}  // namespace

double roofline_us(const Graph& graph, const SymbolValues& symbols, const RooflineOptions& options) {
  const Extents extents = extents_of(graph, symbols);
  double total = 0;
  for (const Node& node : graph.nodes()) {
    const bool weight = node.num_results > 0 && graph.is_weight(node.result());
    if (node.is_input() || node.is_constant() || weight || is_view(node)) continue;
    const Work work = work_of(graph, node, extents);
    const double seconds = std::max(work.flops / options.flops_per_second, work.bytes / options.bytes_per_second);
    total += options.kernel_overhead_us + 1e6 * seconds;
  }
  return total;
}

Result<Interval> RooflineOracle::speedup(const Graph& current, const Graph& candidate) {
  const double before = roofline_us(current, symbols_, options_);
  const double after = roofline_us(candidate, symbols_, options_);
  const double ratio = after > 0 ? before / after : (before > 0 ? 1e9 : 1);
  return Interval{ratio, ratio, ratio};
}

}  // namespace isomer
