#include "isomer/plan/decisions.h"

namespace isomer {
namespace {

template <class Decision>
std::optional<Decision> find(const std::map<ValueId, Decision>& decided, ValueId value) {
  const auto found = decided.find(value);
  return found == decided.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::string_view layout_name(Layout layout) { return layout == Layout::Blocked ? "blocked" : "plain"; }

std::string_view algorithm_name(Algorithm algorithm) {
  return algorithm == Algorithm::Winograd ? "winograd" : "direct";
}

std::optional<Layout> Decisions::layout(ValueId value) const { return find(layouts, value); }
std::optional<Algorithm> Decisions::algorithm(ValueId value) const { return find(algorithms, value); }

}  // namespace isomer
