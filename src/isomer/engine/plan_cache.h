#pragma once
// The plans of a model whose inputs come in several extents.

#include <functional>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "isomer/runtime/onednn/plan.h"

namespace isomer {

/// One plan for each set of input types, as long as there are not too many; then the one goes that was used longest
/// ago. Who holds a plan may go on with it: it goes when nobody does. Not for several threads at a time.
class PlanCache {
 public:
  /// Keeps at most `most` plans, at least one.
  explicit PlanCache(size_t most) : most_(most) {}

  /// The plan for these types, by `make` where there is none. An Error of `make` leaves everything as it was.
  Result<std::shared_ptr<const onednn::Plan>> get(std::span<const TensorType> types,
                                                  const std::function<Result<onednn::Plan>()>& make);

 private:
  struct Entry {
    std::vector<TensorType> types;
    std::shared_ptr<const onednn::Plan> plan;
  };
  const size_t most_;
  std::list<Entry> entries_;  // the one that was used last comes first
};

}  // namespace isomer
