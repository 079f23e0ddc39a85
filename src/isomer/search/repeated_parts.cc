#include "isomer/search/repeated_parts.h"

#include <algorithm>

#include "isomer/base/hash.h"
#include "isomer/rules/record.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/step.h"

namespace isomer {
namespace {

/// Returns the same graph with its nodes in an order that depends only on how they are connected, so that equal graphs
/// have equal ids. (A copy from the outputs; that of a rewrite has this order too.)
Graph in_canonical_order(const Graph& graph) { return apply_matches(graph, {}).graph; }

/// Whether conditions and literals of rules can depend on the elements of a constant.
bool rules_see_elements(const Tensor& tensor) {
  return (tensor.dtype() == DType::Int64 && tensor.dims().size() == 1) || uniform_value(tensor).has_value();
}

uint64_t attrs_hash(const Graph& graph, const Node& node) {
  if (!node.is_constant() || rules_see_elements(node.attrs.tensor("value"))) return node.attrs.hash();
  return graph.type(node.result()).hash();
}

bool ended_by_time(const std::string& stop_reason) {
  return stop_reason == "time budget" || stop_reason == "interrupted";
}

/// Returns the nodes that make these values, in their order; a node with several results is listed once.
std::vector<NodeId> producers_of(const Graph& graph, std::span<const uint64_t> value_hashes) {
  std::vector<NodeId> out;
  for (const uint64_t hash : value_hashes)
    for (ValueId value = 0; value < graph.num_values(); ++value)
      if (graph.value_hash(value) == hash && (out.empty() || out.back() != graph.producer(value)))
        out.push_back(graph.producer(value));
  return out;
}

}  // namespace

uint64_t ordered_hash(const Graph& graph, const Boundary& boundary) {
  uint64_t hash = hash_mix(graph.inputs().size(), graph.nodes().size());
  for (const Node& node : graph.nodes()) {
    hash = hash_mix(hash_mix(hash, node.op->hash()), attrs_hash(graph, node));
    for (const ValueId operand : graph.operands(node)) hash = hash_mix(hash, operand);
    for (uint32_t i = 0; i < node.num_results; ++i) hash = hash_mix(hash, graph.type(node.result(i)).hash());
  }
  for (const ValueId output : graph.outputs()) hash = hash_mix(hash, output);
  for (const std::vector<Layout>& layouts : {boundary.inputs, boundary.outputs})
    for (const Layout layout : layouts) hash = hash_mix(hash, static_cast<uint64_t>(layout));
  return hash;
}

RepeatedParts::RepeatedParts(std::span<const Rule> rules, Evaluator& evaluator) : evaluator_(evaluator) {
  for (const Rule& rule : rules) rules_.emplace(rule.hash(), &rule);
}

std::vector<Match> RepeatedParts::matches_at(const Graph& graph, const Place& place) const {
  if (std::ranges::any_of(place.roots, [&](NodeId id) { return id >= graph.nodes().size(); })) return {};
  return find_matches_of(graph, OpIndex(graph), *place.rule, place.roots);
}

std::optional<std::pair<RepeatedParts::Place, Match>> RepeatedParts::place_of(const Graph& graph,
                                                                              const SearchStep& step) const {
  if (step.moves.size() != 1 || step.moves[0].applications.size() != 1) return std::nullopt;
  const Application& application = step.moves[0].applications[0];
  const auto rule = rules_.find(step.rule_hash);
  if (rule == rules_.end()) return std::nullopt;
  Place place{.rule = rule->second, .roots = producers_of(graph, application.roots)};
  place.change.by = step.delta;
  place.change.penalized = step.penalized;
  std::vector<Match> matches = matches_at(graph, place);
  const auto match = std::ranges::find_if(matches, [&](const Match& one) { return record(graph, one) == application; });
  if (match == matches.end()) return std::nullopt;
  place.match = static_cast<size_t>(match - matches.begin());
  return std::pair(std::move(place), std::move(*match));
}

bool RepeatedParts::repeats(const Candidate& part) const {
  return part.decisions.empty() && !evaluator_.weighs_memory();
}

std::optional<uint64_t> RepeatedParts::key(const Candidate& part, const Boundary& boundary) const {
  return repeats(part) ? std::optional(ordered_hash(in_canonical_order(part.graph), boundary)) : std::nullopt;
}

std::optional<RepeatedParts::Way> RepeatedParts::way_to(Graph graph, const FoundCandidate& found) const {
  Way way{found.cost_after};
  for (const SearchStep& step : found.report.steps) {
    auto place = place_of(graph, step);
    if (!place) return std::nullopt;
    graph = *apply_match(graph, place->second);
    way.places.push_back(std::move(place->first));
  }
  return way;
}

void RepeatedParts::store(const Candidate& part, const Boundary& boundary, const FoundCandidate& found) {
  if (!repeats(part) || ended_by_time(found.report.stop_reason)) return;
  const Graph graph = in_canonical_order(part.graph);
  auto best = way_to(graph, found);
  if (!best) return;
  Stored result{found.cost_before, found.report.stop_reason};
  result.ways.push_back(std::move(*best));
  for (const FoundCandidate& other : found.others)
    if (auto way = way_to(graph, other)) result.ways.push_back(std::move(*way));
  results_.emplace(ordered_hash(graph, boundary), std::move(result));
}

std::optional<FoundCandidate> RepeatedParts::find(const Candidate& part, const Boundary& boundary,
                                                  const CandidateCost& cost) const {
  if (!repeats(part) || results_.empty()) return std::nullopt;
  const Graph graph = in_canonical_order(part.graph);
  const auto found = results_.find(ordered_hash(graph, boundary));
  if (found == results_.end()) return std::nullopt;
  const Stored& stored = found->second;
  const auto before = cost(part);
  if (!before || !equal_costs(*before, stored.cost_before)) return std::nullopt;
  auto out = go(part, *before, graph, stored.ways[0], cost);
  if (!out) return std::nullopt;
  out->report.stop_reason = stored.stop_reason;
  for (const Way& way : std::span(stored.ways).subspan(1))
    if (auto other = go(part, *before, graph, way, cost)) out->others.push_back(std::move(*other));
  return out;
}

std::optional<FoundCandidate> RepeatedParts::go(const Candidate& part, double cost_before, Graph graph, const Way& way,
                                                const CandidateCost& cost) const {
  FoundCandidate out{part, cost_before, cost_before};
  if (way.places.empty()) return out;
  for (const Place& place : way.places) {
    const std::vector<Match> matches = matches_at(graph, place);
    if (place.match >= matches.size()) return std::nullopt;
    auto next = apply_match(graph, matches[place.match], evaluator_.refused());
    if (!next) return std::nullopt;
    out.report.steps.push_back(step_of(graph, matches[place.match], *next, place.change));
    graph = std::move(*next);
  }
  if (!evaluator_.admits(graph) || !evaluator_.check_weights(graph)) return std::nullopt;
  static_cast<Candidate&>(out) = std::move(graph);
  const auto after = cost(out);
  if (!after || !equal_costs(*after, way.cost_after)) return std::nullopt;
  out.cost_after = *after;
  return out;
}

}  // namespace isomer
