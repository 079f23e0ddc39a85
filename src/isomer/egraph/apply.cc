#include "isomer/egraph/apply.h"

#include <algorithm>

#include "isomer/egraph/term_draft.h"

namespace isomer {
namespace {

Result<std::vector<ValueId>> instantiate(TermDraft& draft, const Direction& direction, bool new_side,
                                         const Binding& binding, DType element) {
  const bool target = direction.forward == new_side;
  return target ? instantiate_targets(draft, direction.rule, binding, element)
                : instantiate_sources(draft, direction.rule, binding, element);
}

/// Returns the terms of the values in a binding.
std::vector<EClassId> leaves_of(const TermGraph& graph, const Binding& binding) {
  std::vector<EClassId> out;
  for (const auto& [name, id] : binding.values) out.push_back(graph.plainest(id));
  for (const auto& [name, ids] : binding.sequences)
    for (const EClassId id : ids) out.push_back(graph.plainest(id));
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

std::optional<TermApplication> apply_rule(TermGraph& graph, const Direction& direction, const TermMatch& match,
                                          bool only_news) {
  const DType element = graph.type(match.roots[0]).dtype;
  TermDraft made(graph);
  const auto to = instantiate(made, direction, true, match.binding, element);
  if (!to || to->size() != match.roots.size()) return std::nullopt;
  bool news = false;
  for (size_t i = 0; i < to->size(); ++i) {
    if (!(made.type((*to)[i]) == graph.type(match.roots[i]))) return std::nullopt;
    news = news || made.known((*to)[i]) != graph.find(match.roots[i]);
  }
  if (only_news && !news) return std::nullopt;
  TermDraft matched(graph);
  const auto from = instantiate(matched, direction, false, match.binding, element);
  if (!from || from->size() != match.roots.size()) return std::nullopt;
  for (size_t i = 0; i < from->size(); ++i)
    if (matched.known((*from)[i]) != graph.find(match.roots[i])) return std::nullopt;
  TermApplication application{&direction, {}, {}, leaves_of(graph, match.binding)};
  application.from = matched.commit(*from);
  application.to = made.commit(*to);
  return application;
}

}  // namespace isomer
