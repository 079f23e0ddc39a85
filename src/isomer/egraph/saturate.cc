#include "isomer/egraph/saturate.h"

#include "isomer/base/stopwatch.h"

namespace isomer {
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
  auto application = apply_rule(graph_, *found.direction, found.match, true);
  if (!application) return false;
  for (uint32_t i = 0; i < application->to.size(); ++i) {
    const auto reason = static_cast<EGraph::Reason>(reasons_.size());
    if (!graph_.merge(application->from[i], application->to[i], reason)) continue;
    reasons_.push_back({static_cast<uint32_t>(applications_.size()), i});
  }
  applications_.push_back(std::move(*application));
  return true;
}

}  // namespace isomer
