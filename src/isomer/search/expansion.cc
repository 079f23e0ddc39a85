#include "isomer/search/expansion.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "isomer/base/hash.h"
#include "isomer/rules/match_target.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/exhaustive.h"
#include "isomer/search/matches.h"
#include "isomer/search/step.h"

namespace isomer {
namespace {

/// Sums of the costs of equal kernels in another order differ by less than this, relative to the sum.
constexpr double kRounding = 1e-12;

/// A hash of what decides whether a node that runs can be exported (Evaluator::admits).
uint64_t form_of(const Node& node) { return hash_mix(hash_mix(node.op->hash(), node.attrs.hash()), node.num_operands); }

Candidate successor_of(const SearchNode& before, size_t match) {
  Graph graph = *apply_match(before.graph, before.matches[match]);
  if (before.decisions.empty()) return graph;
  return carried(before.decisions, delta_of(before.graph, before.matches[match])->value_hashes, std::move(graph));
}

}  // namespace

Expansion::Expansion(const char* algorithm, const RuleIndex& rules, const CandidateCost& cost,
                     const SearchLimits& limits, std::vector<bool> dropped)
    : rules_(rules),
      cost_(cost),
      limits_(limits),
      refused_(limits.evaluator == nullptr ? nullptr : limits.evaluator->refused()),
      targets_(limits.targets == nullptr ? own_targets_ : *limits.targets),
      dropped_(std::move(dropped)) {
  report_.algorithm = algorithm;
}

Result<SearchNode> Expansion::begin(const Candidate& first) {
  ISOMER_TRY(const double cost, cost_(first));
  SearchNode node{first, all_matches(first.graph, rules_, SIZE_MAX, limits_.budget.end), cost};
  begin_again(node);
  return node;
}

void Expansion::begin_again(const SearchNode& first) {
  best_.cost = first_cost_ = first.cost;
  if (limits_.max_growth > 0) max_ops_ = limits_.max_growth * static_cast<double>(run_time_ops(first.graph)) + 4;
  seen_.insert(first.hash());
  count_matches(first);
}

void Expansion::count_matches(const SearchNode& node) {
  report_.matches += std::ranges::count_if(node.matches, [&](const Match& match) { return !dropped(match); });
}

bool Expansion::dropped(const Match& match) const {
  return !dropped_.empty() && dropped_[static_cast<size_t>(match.rule - rules_.rules().data())];
}

bool Expansion::stopped(int64_t stored) {
  if (report_.stop_reason.empty()) report_.stop_reason = limits_.budget.spent(report_.candidates, stored);
  return !report_.stop_reason.empty();
}

std::optional<double> Expansion::cost(const SearchNode& parent, size_t match) {
  built_.parent = nullptr;
  last_ = {};
  Match& considered = parent.matches[match];
  if (expanded_ == &parent) next_ = std::max(next_, match + 1);
  if (parent.length >= limits_.max_length || dropped(considered)) return std::nullopt;
  if (!considered.target) considered.target = targets_.of(parent.graph, considered);
  if (!parent.decisions.empty()) return decided_cost(parent, match);
  KnownSuccessor& known = match < parent.known.size() ? parent.known[match] : last_;
  std::optional<Delta> delta;
  if (known.state == KnownSuccessor::Unknown) {
    if (auto valid = delta_of(parent.graph, parent.matches[match])) delta = std::move(*valid);
    known.state = delta ? KnownSuccessor::Hashed : KnownSuccessor::Invalid;
    if (delta) known.hash = delta->hash;
  }
  if (known.state == KnownSuccessor::Invalid || !is_new(known.hash)) return std::nullopt;
  if (known.state == KnownSuccessor::Hashed || known.refused != refused_weights())
    evaluate(parent, match, std::move(delta), known);
  if (known.state == KnownSuccessor::Outgrown) outgrown_ = true;
  if (known.state != KnownSuccessor::Costed) return std::nullopt;
  ++report_.candidates;
  return known.cost;
}

/// The hash is known only when the graph is: decisions about values that are gone do not count.
std::optional<double> Expansion::decided_cost(const SearchNode& parent, size_t match) {
  const auto delta = delta_of(parent.graph, parent.matches[match]);
  if (!delta) return std::nullopt;
  auto graph = apply_match(parent.graph, parent.matches[match], refused_);
  if (!graph) return std::nullopt;
  built_ = {carried(parent.decisions, delta->value_hashes, std::move(*graph)), &parent, match};
  outgrown_ = outgrown_ || outgrows(built_.graph);
  if (outgrows(built_.graph) || !is_new(built_.hash())) return std::nullopt;
  const auto cost = cost_(built_);
  if (!cost) return std::nullopt;
  ++report_.candidates;
  return *cost;
}

bool Expansion::outgrows(const Graph& graph) const { return static_cast<double>(run_time_ops(graph)) > max_ops_; }

void Expansion::expand(const SearchNode& node, std::function<bool(const Match&)> wanted) {
  expanded_ = &node;
  previews_.reset();
  wanted_ = std::move(wanted);
  next_ = 0;
  CostModel* costs = limits_.evaluator == nullptr ? nullptr : limits_.evaluator->costs();
  if (costs != nullptr) costs->expect([this] { return next_expected(); });
}

Expansion::~Expansion() {
  if (expanded_ == nullptr || limits_.evaluator == nullptr) return;
  if (CostModel* costs = limits_.evaluator->costs()) costs->expect(nullptr);
}

const Candidate* Expansion::next_expected() {
  const SearchNode& parent = *expanded_;
  if (!parent.decisions.empty() || parent.length >= limits_.max_length) return nullptr;
  while (next_ < parent.matches.size()) {
    const size_t match = next_++;
    Match& considered = parent.matches[match];
    if (dropped(considered) || (wanted_ && !wanted_(considered))) continue;
    if (match < parent.known.size() && parent.known[match].state != KnownSuccessor::Unknown) continue;
    if (!considered.target) considered.target = targets_.of(parent.graph, considered);
    const auto delta = delta_of(parent.graph, considered);
    if (!delta || seen_.contains(delta->hash)) continue;
    auto graph = apply_match(parent.graph, considered, refused_);
    if (!graph || outgrows(*graph)) continue;
    expected_ = std::move(*graph);
    return &expected_;
  }
  return nullptr;
}

bool Expansion::can_preview(const SearchNode& parent) {
  if (expanded_ != &parent || limits_.costs == nullptr || limits_.evaluator == nullptr) return false;
  if (previews_ != nullptr) return true;
  auto costs = limits_.costs->rewrites_of(parent.graph);
  if (costs == nullptr) return false;
  previews_ = std::make_unique<Previews>(parent.graph, std::move(costs));
  for (const Node& node : parent.graph.nodes())
    previews_->admitted.push_back(parent.graph.runs(node) && admitted_.contains(form_of(node)));
  return true;
}

bool Expansion::preview(const SearchNode& parent, size_t match, std::optional<Delta> delta, KnownSuccessor& known) {
  if (!can_preview(parent)) return false;
  if (!delta) delta = *delta_of(parent.graph, parent.matches[match]);
  const RunNodes* nodes = previews_->preview.after(parent.matches[match], *delta, refused_);
  known.state = KnownSuccessor::Refused;
  if (nodes == nullptr) return true;
  known.state = KnownSuccessor::Outgrown;
  if (static_cast<double>(nodes->nodes.size()) > max_ops_) return true;
  const auto metrics = previews_->costs->metrics(*nodes);
  if (!metrics) return false;
  known.state = KnownSuccessor::Costed;
  known.cost = limits_.evaluator->objective(*metrics);
  if (forms_admitted(*nodes)) known.admitted = true;
  return true;
}

bool Expansion::forms_admitted(const RunNodes& nodes) const {
  return std::ranges::all_of(nodes.nodes, [&](const RunNodes::Run& run) {
    const bool own = run.graph == &expanded_->graph;
    return (own && previews_->admitted[static_cast<size_t>(run.node - run.graph->nodes().data())]) ||
           admitted_.contains(form_of(*run.node));
  });
}

void Expansion::note_admitted(const Graph& graph) {
  if (limits_.costs == nullptr) return;
  for (const Node& node : graph.nodes())
    if (graph.runs(node)) admitted_.insert(form_of(node));
}

void Expansion::evaluate(const SearchNode& parent, size_t match, std::optional<Delta> delta, KnownSuccessor& known) {
  known.refused = refused_weights();
  if (preview(parent, match, std::move(delta), known)) return;
  known.state = KnownSuccessor::Refused;
  auto graph = apply_match(parent.graph, parent.matches[match], refused_);
  if (!graph) return;
  built_ = {std::move(*graph), &parent, match};
  known.state = KnownSuccessor::Outgrown;
  if (outgrows(built_.graph)) return;
  const auto cost = cost_(built_);
  known.state = cost ? KnownSuccessor::Costed : KnownSuccessor::Uncosted;
  if (cost) known.cost = *cost;
}

bool Expansion::is_new(uint64_t hash) {
  const bool fresh = seen_.insert(hash).second;
  if (!fresh) ++report_.duplicates;
  return fresh;
}

bool Expansion::keep(const Successor& successor) {
  Evaluator* evaluator = limits_.evaluator;
  if (evaluator != nullptr && !admitted(successor)) return false;
  const bool best = best_.cost - successor.cost > kRounding * std::abs(successor.cost);
  if (best && evaluator != nullptr && !evaluator->check_weights(graph_of(successor))) return false;
  keep_as_other(best ? std::exchange(best_, successor) : successor);
  return true;
}

void Expansion::keep_as_other(const Successor& successor) {
  if (limits_.others == 0 || successor.parent == nullptr) return;
  const auto place = std::ranges::upper_bound(others_, successor.cost, {}, &Successor::cost);
  if (others_.size() == limits_.others && place == others_.end()) return;
  others_.insert(place, successor);
  if (others_.size() > limits_.others) others_.pop_back();
}

bool Expansion::admitted(const Successor& successor) {
  std::vector<KnownSuccessor>& all = successor.parent->known;
  KnownSuccessor& known = successor.match < all.size() ? all[successor.match] : last_;
  if (!known.admitted) {
    known.admitted = limits_.evaluator->admits(graph_of(successor));
    if (*known.admitted) note_admitted(graph_of(successor));
  }
  return *known.admitted;
}

const Graph& Expansion::graph_of(const Successor& successor) {
  const SearchNode* parent = successor.parent.get();
  if (built_.parent != parent || built_.match != successor.match)
    built_ = {successor_of(*parent, successor.match), parent, successor.match};
  return built_.graph;
}

SearchNode Expansion::build(const Successor& successor, std::vector<bool>& marks) {
  const SearchNode& parent = *successor.parent;
  const Match& match = parent.matches[successor.match];
  Graph graph = *apply_match(parent.graph, match);
  const auto delta = delta_of(parent.graph, match);
  Inherited inherited = inherit({parent.graph, parent.matches, *delta, marks}, graph, rules_);
  marks = std::move(inherited.marks);
  SearchNode node{carried(parent.decisions, delta->value_hashes, std::move(graph)),
                  std::move(inherited.matches),
                  successor.cost,
                  successor.parent,
                  successor.match,
                  parent.length + 1};
  count_matches(node);
  return node;
}

FoundCandidate Expansion::result(const Candidate& first) {
  if (report_.stop_reason.empty()) report_.stop_reason = outgrown_ ? "growth limit" : "exhausted";
  report_.seconds = watch_.seconds();
  FoundCandidate out = found(first, best_);
  std::swap(out.report.steps, report_.steps);
  out.report = std::move(report_);
  for (const Successor& successor : others_) {
    FoundCandidate other = found(first, successor);
    if (limits_.evaluator == nullptr || limits_.evaluator->check_weights(other.graph))
      out.others.push_back(std::move(other));
  }
  return out;
}

FoundCandidate Expansion::found(const Candidate& first, const Successor& successor) const {
  FoundCandidate out{first, first_cost_, successor.cost};
  if (successor.parent != nullptr) static_cast<Candidate&>(out) = successor_of(*successor.parent, successor.match);
  Graph after = out.graph;
  double cost_after = successor.cost;
  size_t match = successor.match;
  for (const SearchNode* from = successor.parent.get(); from != nullptr; from = from->parent.get()) {
    out.report.steps.push_back(step_of(from->graph, from->matches[match], after, {from->cost, cost_after}));
    after = from->graph;
    cost_after = from->cost;
    match = from->match;
  }
  std::ranges::reverse(out.report.steps);
  return out;
}

}  // namespace isomer
