#pragma once
// The plans of a model whose inputs have varying extents.

#include <functional>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "isomer/engine/onednn/plan.h"

namespace isomer {

/// Keeps one plan per set of input types, up to a limit; beyond it, the least recently used plan is removed. A plan is
/// shared, so that its users can still run it after its removal. Not thread-safe.
class PlanCache {
 public:
  /// Keeps at most `max_plans` plans, but at least one.
  explicit PlanCache(size_t max_plans) : max_plans_(max_plans) {}

  /// Returns the plan for these types; calls `make` if there is none. An Error of `make` leaves the cache unchanged.
  Result<std::shared_ptr<const onednn::Plan>> get(std::span<const TensorType> types,
                                                  const std::function<Result<onednn::Plan>()>& make);

 private:
  struct Entry {
    std::vector<TensorType> types;
    std::shared_ptr<const onednn::Plan> plan;
  };
  const size_t max_plans_;
  std::list<Entry> entries_;  // most recently used first
};

}  // namespace isomer
