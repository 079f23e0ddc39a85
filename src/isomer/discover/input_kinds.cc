#include "isomer/discover/input_kinds.h"

namespace isomer {

InputKinds::InputKinds(std::span<const Universe> variants) {
  const auto& inputs = variants[0].inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].group < dims_.size()) continue;
    auto& dims = dims_.emplace_back();
    for (const Universe& variant : variants) dims.push_back(variant.inputs[i].dims);
    known_.emplace(dims, inputs[i].group);
  }
  groups_ = dims_.size();
}

KindId InputKinds::intern(const std::vector<Ints>& dims) {
  const std::lock_guard guard(lock_);
  const auto [place, fresh] = known_.try_emplace(dims, static_cast<KindId>(dims_.size()));
  if (fresh) dims_.push_back(dims);
  return place->second;
}

std::vector<KindId> InputKinds::sort() {
  const std::lock_guard guard(lock_);
  std::vector<KindId> order(dims_.size());
  for (KindId kind = 0; kind < groups_; ++kind) order[kind] = kind;
  auto next = static_cast<KindId>(groups_);
  for (auto& [dims, kind] : known_) {
    if (kind < groups_) continue;
    order[kind] = next;
    kind = next++;
  }
  for (const auto& [dims, kind] : known_) dims_[kind] = dims;
  return order;
}

Ints InputKinds::dims(KindId kind, size_t variant) const {
  const std::lock_guard guard(lock_);
  return dims_[kind][variant];
}

}  // namespace isomer
