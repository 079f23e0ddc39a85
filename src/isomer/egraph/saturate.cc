#include "isomer/egraph/saturate.h"

#include <algorithm>

#include "isomer/base/stopwatch.h"
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

std::string Saturation::run(EClassId a, EClassId b) {
  const Stopwatch watch;
  const auto late = [&] { return limits_.seconds > 0 && watch.seconds() > limits_.seconds; };
  const auto joined = [&] { return graph_.find(a) == graph_.find(b); };
  graph_.rebuild();
  for (rounds_ = 0; !joined(); ++rounds_) {
    if (rounds_ == limits_.rounds) return fmt::format("after {} rounds", rounds_);
    bool changed = false;
    bool full = false;
    for (const Found& found : match_all()) {
      changed = apply(found) || changed;
      full = graph_.egraph().size() > limits_.nodes;
      if (full || late()) break;
    }
    graph_.rebuild();
    if (joined()) break;
    if (full) return fmt::format("at {} nodes", limits_.nodes);
    if (late()) return fmt::format("after {} s", limits_.seconds);
    if (!changed) return "nothing more follows";
  }
  return "";
}

std::vector<Saturation::Found> Saturation::match_all() const {
  const TermIndex index(graph_);
  std::vector<Found> out;
  for (const Direction& direction : directions_) {
    if (direction.several_roots() && rounds_ >= limits_.sibling_rounds) continue;
    if (index.of(*direction.from()[0].op).empty()) continue;
    for (TermMatch& match : match_terms(graph_, index, direction, limits_.match))
      out.push_back({&direction, std::move(match)});
  }
  return out;
}

bool Saturation::apply(const Found& found) {
  const auto& [direction, match] = found;
  const DType element = graph_.type(match.roots[0]).dtype;
  TermDraft made(graph_);
  const auto to = instantiate(made, *direction, true, match.binding, element);
  if (!to || to->size() != match.roots.size()) return false;
  bool news = false;
  for (size_t i = 0; i < to->size(); ++i) {
    if (!(made.type((*to)[i]) == graph_.type(match.roots[i]))) return false;
    news = news || made.known((*to)[i]) != graph_.find(match.roots[i]);
  }
  if (!news) return false;
  TermDraft matched(graph_);
  const auto from = instantiate(matched, *direction, false, match.binding, element);
  if (!from || from->size() != match.roots.size()) return false;
  for (size_t i = 0; i < from->size(); ++i)
    if (matched.known((*from)[i]) != graph_.find(match.roots[i])) return false;
  TermApplication application{direction, {}, {}, leaves_of(graph_, match.binding)};
  application.from = matched.commit(*from);
  application.to = made.commit(*to);
  for (uint32_t i = 0; i < to->size(); ++i) {
    const auto reason = static_cast<EGraph::Reason>(reasons_.size());
    if (!graph_.merge(application.from[i], application.to[i], reason)) continue;
    reasons_.push_back({static_cast<uint32_t>(applications_.size()), i});
  }
  applications_.push_back(std::move(application));
  return true;
}

}  // namespace isomer
