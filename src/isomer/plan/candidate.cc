#include "isomer/plan/candidate.h"

#include "isomer/base/hash.h"

namespace isomer {

/// Does not depend on the order of values, which differs between equal graphs.
uint64_t Candidate::hash() const {
  uint64_t sum = 0, kinds = 0;
  for_each_kind(
      [&](const auto&, const auto& decided) {
        ++kinds;
        for (const auto& [value, choice] : decided)
          sum += hash_mix(hash_mix(graph.value_hash(value), kinds), static_cast<uint64_t>(choice));
      },
      decisions);
  return decisions.empty() ? graph.hash() : hash_mix(graph.hash(), sum);
}

std::unordered_map<uint64_t, ValueId> values_by_hash(const Graph& graph) {
  std::unordered_map<uint64_t, ValueId> out;
  out.reserve(graph.num_values());
  for (ValueId value = 0; value < graph.num_values(); ++value) out.emplace(graph.value_hash(value), value);
  return out;
}

Candidate carried(const Decisions& decisions, std::span<const uint64_t> images, Graph after) {
  Decisions out;
  if (decisions.empty()) return after;
  const auto by_hash = values_by_hash(after);
  const auto image_of = [&](ValueId value) {
    const auto image = by_hash.find(images[value]);
    return image == by_hash.end() ? std::nullopt : std::optional(image->second);
  };
  add_decisions(decisions, image_of, out);
  return {std::move(after), std::move(out)};
}

Candidate finish(GraphBuilder& builder, std::span<const ValueId> outputs, const Decisions& decisions) {
  if (decisions.empty()) return builder.finish(outputs);
  std::vector<uint64_t> images;
  for (ValueId value = 0; value < builder.peek().num_values(); ++value)
    images.push_back(builder.peek().value_hash(value));
  return carried(decisions, images, builder.finish(outputs));
}

}  // namespace isomer
