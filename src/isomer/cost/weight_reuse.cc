#include "isomer/cost/weight_reuse.h"

#include <algorithm>
#include <cmath>

namespace isomer {
namespace {

constexpr double kMostReads = 16;  // the caches have settled by then

double half_power(double number) { return std::exp2(std::round(2 * std::log2(number)) / 2); }

double rounded(double bytes) {
  return bytes <= kNearestWeights ? kNearestWeights : std::min(half_power(bytes), kFarthestWeights);
}

}  // namespace

WeightReuse::WeightReuse(const Graph& graph, const KernelPlan& plan, const ConcreteTypes& types, double footprint)
    : graph_(graph), plan_(plan), types_(types), footprint_(footprint) {}

WeightReads WeightReuse::of(size_t kernel) const {
  const auto nodes = plan_.kernel(kernel);
  double bytes = 0;
  ValueId largest = kNoValue;
  for (const NodeId id : nodes) {
    for (const ValueId operand : graph_.operands(graph_.node(id))) {
      if (operand == kNoValue || !graph_.is_weight(operand)) continue;
      bytes += types_.bytes(operand);
      if (largest == kNoValue || types_.bytes(operand) > types_.bytes(largest)) largest = operand;
    }
  }
  if (bytes < kSmallWeights) return {};
  const std::vector<NodeId> readers = readers_of(largest);
  if (readers.size() < 2) return {.distance = rounded(footprint_)};
  if (weights_.empty()) weights_ = weights_read();
  const double absence = rounded(between_runs(largest));
  const auto own = [&](NodeId reader) { return std::find(nodes.begin(), nodes.end(), reader) != nodes.end(); };
  const auto first = std::find_if(readers.begin(), readers.end(), own);
  if (first == readers.begin()) return {.distance = absence};
  const double distance = rounded(std::min(within_run(*(first - 1), *first), footprint_));
  if (absence <= distance) return {.distance = distance};
  const double reads = half_power(static_cast<double>(readers.size()));
  return {
      .distance = distance, .in_a_row = static_cast<int>(std::lround(std::min(reads, kMostReads))), .absence = absence};
}

double WeightReuse::between_runs(ValueId weight) const {
  const std::vector<NodeId> readers = readers_of(weight);
  const auto within = [&](NodeId reader) { return readers.front() <= reader && reader < readers.back(); };
  return footprint_ - sum_of_weights([&](ValueId other) { return std::ranges::all_of(readers_of(other), within); });
}

double WeightReuse::within_run(NodeId before, NodeId reader) const {
  const auto since = [&](NodeId other) { return before < other && other <= reader; };
  return sum_of_weights([&](ValueId other) { return std::ranges::any_of(readers_of(other), since); });
}

template <class Condition>
double WeightReuse::sum_of_weights(const Condition& condition) const {
  double bytes = 0;
  for (const ValueId weight : weights_) bytes += condition(weight) ? types_.bytes(weight) : 0;
  return bytes;
}

std::vector<NodeId> WeightReuse::readers_of(ValueId weight) const {
  std::vector<NodeId> out;
  for (const NodeId reader : graph_.consumers(weight)) {
    const Node& node = graph_.node(reader);
    const bool folds = node.num_results > 0 && graph_.is_weight(node.result());
    if (!folds) out.push_back(reader);
  }
  return out;
}

std::vector<ValueId> WeightReuse::weights_read() const {
  std::vector<ValueId> out;
  for (ValueId value = 0; value < graph_.num_values(); ++value)
    if (graph_.is_weight(value) && types_.bytes(value) >= kSmallWeights && !readers_of(value).empty())
      out.push_back(value);
  return out;
}

}  // namespace isomer
