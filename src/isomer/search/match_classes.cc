#include "isomer/search/match_classes.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace isomer {
namespace {

std::string kind_of(const Graph& graph, const Match& match) {
  std::string out = parameters_of(match);
  for (const ValueId root : match.roots) {
    const Node& node = graph.producer_node(root);
    out += fmt::format("{} {:016x}(", node.op->name, node.attrs.hash());
    for (const ValueId operand : graph.operands(node))
      out += (operand == kNoValue ? "_" : graph.type(operand).str()) + ",";
    out += ')';
  }
  return out;
}

std::vector<std::vector<Match>> grouped(std::vector<Match> matches,
                                        const std::function<std::string(const Match&)>& key) {
  std::unordered_map<std::string, size_t> places;  // for lookup only
  std::vector<std::vector<Match>> out;
  for (Match& match : matches) {
    const auto [place, fresh] = places.try_emplace(key(match), out.size());
    if (fresh) out.emplace_back();
    out[place->second].push_back(std::move(match));
  }
  return out;
}

}  // namespace

std::string parameters_of(const Match& match) {
  std::string out;
  for (const Choice& choice : match.rule->choices)
    if (const ExprValue* value = match.binding.attr(choice.name))
      if (const Dim* number = std::get_if<Dim>(value)) out += choice.name + "=" + number->str() + " ";
  return out;
}

std::vector<std::vector<Match>> classes_of(const Graph& graph, std::vector<Match> matches) {
  return grouped(std::move(matches), [&](const Match& match) { return kind_of(graph, match); });
}

std::vector<std::vector<Match>> settings_of(std::vector<Match> matches) {
  return grouped(std::move(matches), parameters_of);
}

}  // namespace isomer
