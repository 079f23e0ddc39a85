#include "isomer/cost/weight_reuse.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace isomer {
namespace {

constexpr double kMaxReads = 16;  // the caches have reached a steady state by then

double half_power(double number) { return std::exp2(std::round(2 * std::log2(number)) / 2); }

double rounded(double bytes) {
  return bytes <= kNearestWeights ? kNearestWeights : std::min(half_power(bytes), kFarthestWeights);
}

}  // namespace

bool is_generated(const Graph& graph, ValueId value) {
  const Node& maker = graph.producer_node(value);
  return !maker.is_input() && !maker.is_constant() && !maker.is_opaque() && maker.num_results == 1 &&
         graph.operands(maker).empty();
}

WeightReuse::WeightReuse(const Graph& graph, const KernelPlan& plan, const ConcreteTypes& types, double footprint)
    : graph_(graph), plan_(plan), types_(types), footprint_(footprint) {}

WeightReads WeightReuse::of(size_t kernel) const {
  const auto nodes = plan_.kernel(kernel);
  const std::vector<ValueId> all_weights = weights_of(kernel);
  if (bytes_of(all_weights) < kSmallWeights) return {};
  const ValueId largest =
      *std::ranges::max_element(all_weights, {}, [&](ValueId weight) { return types_.bytes(weight); });
  const auto& all = graph_.consumers(largest);
  if (std::ranges::count_if(all, [&](NodeId reader) { return reads(reader); }) < 2)
    return {.distance = rounded(footprint_)};
  const Weight& read = weight(largest);
  const std::vector<NodeId>& readers = read.readers;
  const double absence = rounded(between_runs(read));
  const auto own = [&](NodeId reader) { return std::find(nodes.begin(), nodes.end(), reader) != nodes.end(); };
  const auto first = std::find_if(readers.begin(), readers.end(), own);
  const bool is_first = first == readers.begin();
  const auto again = is_first ? first + 1 : first;
  const double distance = rounded(std::min(within_run(*(again - 1), *again), footprint_));
  if (absence <= distance) return {.distance = is_first ? absence : distance};
  const double reads = half_power(static_cast<double>(readers.size()));
  return {.distance = is_first ? absence : distance,
          .in_a_row = static_cast<int>(std::lround(std::min(reads, kMaxReads))),
          .other_distance = is_first ? distance : absence};
}

double WeightReuse::far_bytes(size_t kernel) const {
  return of(kernel).distance > kNearestWeights ? bytes_of(weights_of(kernel)) : 0;
}

std::vector<ValueId> WeightReuse::weights_of(size_t kernel) const {
  std::vector<ValueId> out;
  for (const NodeId id : plan_.kernel(kernel))
    for (const ValueId operand : graph_.operands(graph_.node(id)))
      if (operand != kNoValue && graph_.is_constant_derived(operand) && !is_generated(graph_, operand))
        out.push_back(operand);
  return out;
}

double WeightReuse::bytes_of(std::span<const ValueId> values) const {
  double bytes = 0;
  for (const ValueId value : values) bytes += types_.bytes(value);
  return bytes;
}

double WeightReuse::between_runs(const Weight& weight) const {
  const NodeId first = weight.readers.front(), last = weight.readers.back();
  return footprint_ - sum_of_weights([&](const Weight& other) {
           return first <= other.readers.front() && other.readers.back() < last;
         });
}

double WeightReuse::within_run(NodeId before, NodeId reader) const {
  return sum_of_weights([&](const Weight& other) {
    const auto next = std::ranges::upper_bound(other.readers, before);
    return next != other.readers.end() && *next <= reader;
  });
}

template <class Condition>
double WeightReuse::sum_of_weights(const Condition& condition) const {
  double bytes = 0;
  for (const Weight& weight : weights())
    if (weight.bytes >= kSmallWeights && condition(weight)) bytes += weight.bytes;
  return bytes;
}

bool WeightReuse::reads(NodeId reader) const { return graph_.runs(graph_.node(reader)); }

const std::vector<WeightReuse::Weight>& WeightReuse::weights() const {
  if (!weights_.empty()) return weights_;
  for (ValueId value = 0; value < graph_.num_values(); ++value) {
    if (!graph_.is_constant_derived(value) || is_generated(graph_, value)) continue;
    Weight weight{.value = value, .bytes = types_.bytes(value), .readers = {}};
    std::ranges::copy_if(graph_.consumers(value), std::back_inserter(weight.readers),
                         [&](NodeId reader) { return reads(reader); });
    if (!weight.readers.empty()) weights_.push_back(std::move(weight));
  }
  return weights_;
}

const WeightReuse::Weight& WeightReuse::weight(ValueId value) const {
  return *std::ranges::lower_bound(weights(), value, {}, &Weight::value);
}

}  // namespace isomer
