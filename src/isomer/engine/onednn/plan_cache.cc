#include "isomer/engine/onednn/plan_cache.h"

#include <algorithm>

namespace isomer {

Result<std::shared_ptr<const onednn::Plan>> PlanCache::get(std::span<const TensorType> types,
                                                           const std::function<Result<onednn::Plan>()>& make) {
  const auto known =
      std::ranges::find_if(entries_, [&](const Entry& entry) { return std::ranges::equal(entry.types, types); });
  if (known != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, known);
    return known->plan;
  }
  ISOMER_TRY(onednn::Plan made, make());
  auto plan = std::make_shared<const onednn::Plan>(std::move(made));
  entries_.push_front({{types.begin(), types.end()}, plan});
  if (entries_.size() > max_plans_) entries_.pop_back();
  return plan;
}

}  // namespace isomer
