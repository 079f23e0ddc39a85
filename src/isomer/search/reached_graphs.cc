#include "isomer/search/reached_graphs.h"

#include "isomer/rules/match_target.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/matches.h"

namespace isomer {
namespace {

/// A hash and a cost in this class, the hash in Expansion, and a queued successor.
constexpr int64_t kBytesPerGraph = 200;
/// A target with its arrays, but without their elements.
constexpr int64_t kBytesPerTarget = 600;
/// Of a block on the heap.
constexpr int64_t kBytesPerBlock = 16;

template <class T>
int64_t heap_bytes(const std::vector<T>& elements) {
  return elements.capacity() == 0 ? 0 : kBytesPerBlock + static_cast<int64_t>(elements.capacity() * sizeof(T));
}

/// Attributes and types are shared with the graph before.
int64_t bytes_of(const Graph& graph) {
  constexpr int64_t kPerValue = sizeof(std::shared_ptr<const TensorType>) + 4 * sizeof(ValueId);
  int64_t bytes = static_cast<int64_t>(graph.num_values()) * kPerValue;
  for (const Node& node : graph.nodes())
    bytes += static_cast<int64_t>(sizeof(Node) + 2 * sizeof(ValueId) * node.num_operands);
  return bytes;
}

/// With the target that it carries.
int64_t bytes_of(const Match& match) {
  const Binding& binding = match.binding;
  int64_t bytes = int64_t{sizeof(Match)} + heap_bytes(match.roots) + heap_bytes(match.nodes) +
                  heap_bytes(binding.values) + heap_bytes(binding.sequences) + heap_bytes(binding.attrs) +
                  heap_bytes(binding.records);
  for (const auto& [name, values] : binding.sequences) bytes += heap_bytes(values);
  // A target that other matches share was counted with the first of them.
  if (match.target.use_count() == 1 && match.target->graph())
    bytes += kBytesPerTarget + bytes_of(*match.target->graph());
  return bytes;
}

}  // namespace

int64_t bytes_of(const SearchNode& node) {
  int64_t bytes = int64_t{sizeof(SearchNode)} + bytes_of(node.graph);
  for (const Match& match : node.matches) bytes += bytes_of(match);
  return bytes;
}

ReachedGraphs::ReachedGraphs(const char* algorithm, std::span<const Rule> rules, const CandidateCost& cost,
                             const SequenceOptions& options)
    : rules_(rules), options_(options), expansion_(algorithm, rules_, cost, options.limits) {}

Result<SearchNode> ReachedGraphs::begin(const Candidate& first) {
  ISOMER_TRY(SearchNode node, expansion_.begin(first));
  keep_targets(node.graph, node.matches);
  costs_.emplace(first.graph.hash(), node.cost);
  if (options_.reached) options_.reached(first.graph.hash());
  return node;
}

bool ReachedGraphs::stopped() { return expansion_.stopped(bytes_); }

ReachedGraphs::Visit ReachedGraphs::visit(const std::shared_ptr<const SearchNode>& parent, size_t match,
                                          uint64_t hash) {
  const auto [place, fresh] = costs_.try_emplace(hash);
  std::optional<double>& known = place->second;
  if (!fresh) {
    ++duplicates_;
    return {false, known};
  }
  bytes_ += kBytesPerGraph;
  const auto cost = expansion_.cost(*parent, match);
  if (cost && expansion_.keep({parent, match, *cost})) known = cost;
  any_refused_ = any_refused_ || !known;
  if (known && options_.reached) options_.reached(hash);
  return {true, known};
}

SearchNode ReachedGraphs::inherited(const Successor& successor, std::vector<bool>& marks) {
  SearchNode node = expansion_.build(successor, marks);
  keep_targets(node.graph, node.matches);
  return node;
}

SearchNode ReachedGraphs::rematched(const Successor& successor) {
  const SearchNode& parent = *successor.parent;
  const Match& match = parent.matches[successor.match];
  Graph graph = *apply_match(parent.graph, match);
  std::vector<Match> matches = all_matches(graph, rules_, SIZE_MAX, options_.limits.budget.end);
  matches_ += static_cast<int64_t>(matches.size());
  Candidate candidate = parent.decisions.empty()
                            ? Candidate(std::move(graph))
                            : carried(parent.decisions, delta_of(parent.graph, match)->value_hashes, std::move(graph));
  return {std::move(candidate), std::move(matches), successor.cost,
          successor.parent,     successor.match,    parent.length + 1};
}

FoundCandidate ReachedGraphs::result(const Candidate& first) {
  FoundCandidate out = expansion_.result(first);
  out.report.duplicates += duplicates_;
  out.report.matches += matches_;
  return out;
}

}  // namespace isomer
