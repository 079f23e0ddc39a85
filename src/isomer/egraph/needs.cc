#include "isomer/egraph/needs.h"

namespace isomer {

bool ClassNeeds::needs(EClassId a, EClassId b) {
  const auto [place, fresh] = below_.try_emplace(graph_.find(a));
  std::vector<bool>& below = place->second;
  if (fresh) {
    below.resize(graph_.ids(), false);
    std::vector<EClassId> pending{place->first};
    while (!pending.empty()) {
      const EClassId id = pending.back();
      pending.pop_back();
      for (const ENode& node : graph_.nodes(id))
        for (const EClassId child : node.children) {
          if (below[graph_.find(child)]) continue;
          below[graph_.find(child)] = true;
          pending.push_back(child);
        }
    }
  }
  return below[graph_.find(b)];
}

}  // namespace isomer
