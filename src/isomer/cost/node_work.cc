#include "isomer/cost/node_work.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "isomer/base/hash.h"

namespace isomer {

bool is_view(const Node& node) {
  constexpr std::array<std::string_view, 5> kViews{"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
  return std::find(kViews.begin(), kViews.end(), node.op->name) != kViews.end();
}

bool works_in_place(const Node& node) {
  constexpr std::array<std::string_view, 14> kNames{"BatchNormalization",
                                                    "Relu",
                                                    "Clip",
                                                    "LeakyRelu",
                                                    "Sigmoid",
                                                    "Tanh",
                                                    "Add",
                                                    "Sum",
                                                    "Mul",
                                                    "Sub",
                                                    "Div",
                                                    "Erf",
                                                    "HardSigmoid",
                                                    "HardSwish"};
  return is_view(node) || std::ranges::find(kNames, node.op->name) != kNames.end();
}

bool runs(const Graph& graph, const Node& node) {
  if (node.is_input() || node.is_constant()) return false;
  return node.num_results == 0 || !graph.is_weight(node.result());
}

const Work& NodeWorkCache::of(const Graph& graph, const Node& node, const ConcreteTypes& types) {
  uint64_t key = hash_mix(node.op->hash(), node.attrs.hash());
  for (const ValueId operand : graph.operands(node)) key = hash_mix(key, operand == kNoValue ? 0 : types.hash(operand));
  for (uint32_t i = 0; i < node.num_results; ++i) key = hash_mix(key, types.hash(node.result(i)));
  const auto [entry, added] = known_.try_emplace(key);
  if (added && !is_view(node)) entry->second = work_of(graph, node, types.extents());
  return entry->second;
}

}  // namespace isomer
