#include "isomer/ops/registry.h"

#include <algorithm>
#include <cassert>
#include <map>

namespace isomer {
namespace {

struct Registry {
  std::vector<OpDef> storage;
  std::vector<const OpDef*> sorted;
  std::map<std::pair<std::string_view, std::string_view>, const OpDef*> by_name;

  Registry() {
    constexpr std::vector<OpDef> (*kFamilies[])() = {
        roi_ops,        order_ops,  cumulative_ops,     attention_ops,       rotary_ops,    loss_ops,
        activation_ops, clip_ops,   softmax_ops,        arithmetic_ops,      compare_ops,   unary_ops,
        cast_ops,       conv_ops,   conv_transpose_ops, deform_conv_ops,     pool_ops,      norm_ops,
        layer_norm_ops, matmul_ops, einsum_ops,         reduce_ops,          reshape_ops,   concat_ops,
        gather_ops,     resize_ops, generate_ops,       window_function_ops, recurrent_ops, signal_ops,
        slice_ops,      pad_ops,    scatter_ops,        select_ops,          suppress_ops,  rearrange_ops,
        sample_ops,     text_ops,
    };
    for (const auto family : kFamilies)
      for (OpDef& def : family()) storage.push_back(with_hash(std::move(def)));
    for (const OpDef& def : storage) {
      sorted.push_back(&def);
      by_name[{def.domain, def.name}] = &def;
    }
    std::sort(sorted.begin(), sorted.end(), [](const OpDef* a, const OpDef* b) { return a->name < b->name; });
  }
};

const Registry& registry() {
  static const Registry kRegistry;
  return kRegistry;
}

}  // namespace

const std::vector<const OpDef*>& all_ops() { return registry().sorted; }

const OpDef* find_op(std::string_view name, std::string_view domain) {
  const auto& by_name = registry().by_name;
  const auto found = by_name.find({domain, name});
  return found == by_name.end() ? nullptr : found->second;
}

const OpDef& op(std::string_view name) {
  const OpDef* def = find_op(name);
  assert(def != nullptr);
  return *def;
}

}  // namespace isomer
