#include "isomer/search/term_extraction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "isomer/base/hash.h"
#include "isomer/ir/builder.h"

namespace isomer {
namespace {

class OperatorGraph {
 public:
  explicit OperatorGraph(const TermGraph& terms) : terms_(terms) {}

  Result<Graph> build(const ENode& node) {
    std::vector<ValueId> operands;
    for (const EClassId child : node.children) {
      ISOMER_TRY(const ValueId value, operand(child));
      operands.push_back(value);
    }
    const TermLabel& label = terms_.at(node.label);
    ISOMER_TRY(const NodeId made, copy(node, label, operands));
    std::vector<ValueId> results;
    for (uint32_t r = 0; r < label.results; ++r) results.push_back(builder_.at(made).result(r));
    return builder_.finish(results);
  }

 private:
  Result<NodeId> copy(const ENode& node, const TermLabel& label, const std::vector<ValueId>& operands) {
    if (label.op != &opaque_op()) return builder_.node(*label.op, label.attrs, operands, label.results);
    std::vector<TensorType> types;
    for (uint32_t r = 0; r < label.results; ++r) {
      const auto id = terms_.egraph().lookup({node.label + r, node.children});
      if (!id) return fail("a result of an opaque node is not known");
      types.push_back(terms_.type(*id));
    }
    return builder_.opaque(label.attrs, operands, std::move(types));
  }

  Result<ValueId> operand(EClassId id) {
    if (id == terms_.find(terms_.absent())) return kNoValue;
    if (terms_.is_constant_derived(id)) return weight(terms_.plainest(id));
    const auto [place, fresh] = inputs_.try_emplace(id, 0);
    if (fresh) place->second = builder_.input(terms_.type(id));
    return place->second;
  }

  /// The value of a term that depends only on constants.
  Result<ValueId> weight(EClassId id) {
    const ENode& term = terms_.egraph().term(id);
    const TermLabel& label = terms_.at(term.label);
    if (label.op == nullptr) return kNoValue;
    if (label.op == &constant_op()) return builder_.constant(label.attrs.tensor("value"));
    std::vector<ValueId> operands;
    for (const EClassId child : term.children) {
      ISOMER_TRY(const ValueId value, weight(child));
      operands.push_back(value);
    }
    ISOMER_TRY(const NodeId made, builder_.node(*label.op, label.attrs, operands, label.results));
    return builder_.at(made).result(label.result);
  }

  const TermGraph& terms_;
  GraphBuilder builder_;
  std::map<EClassId, ValueId> inputs_;
};

}  // namespace

Result<Graph> operator_graph(const TermGraph& terms, const ENode& node) { return OperatorGraph(terms).build(node); }

size_t TermExtraction::NodeHash::operator()(const ENode& node) const {
  uint64_t hash = node.label;
  for (const EClassId child : node.children) hash = hash_mix(hash, child);
  return hash;
}

TermExtraction::TermExtraction(const TermGraph& terms, const LocatedGraph& first, const OperatorCost& cost,
                               const Deadline& end)
    : terms_(terms) {
  NodeSet own;
  for (const Node& node : first.graph().nodes())
    if (node.num_results > 0 && first.class_of(node.result()) != kUnbound) own.insert(first.node_of(node.result()));
  for (const ValueId output : first.graph().outputs())
    if (const EClassId id = first.class_of(output); !is_free(id)) problem_.wanted.push_back(number_of(id));
  for (size_t i = 0; i < classes_.size(); ++i) add_choices(classes_[i], own, cost, end);  // which adds classes
  for (const Node& node : first.graph().nodes()) {
    if (!first.graph().runs(node) || node.num_results == 0) continue;
    const auto known = operators_.find(first.node_of(node.result()));
    const bool needed = known != operators_.end() && known->second != kNotExtracted;
    first_cost_ += needed ? problem_.operators[known->second].cost : std::numeric_limits<double>::infinity();
  }
  prefer(own);
}

void TermExtraction::prefer(const NodeSet& own) {
  constexpr double kPreference = 1e-8;  // of the cost of the first graph, about
  // The largest cost times the number: unlike a sum, it does not depend on the order of an unordered container.
  double all = 0;
  for (const auto& [node, one] : operators_)
    if (one != kNotExtracted && own.contains(node)) all = std::max(all, problem_.operators[one].cost);
  all *= static_cast<double>(own.size());
  for (const auto& [node, one] : operators_)
    if (one != kNotExtracted && !own.contains(node)) problem_.operators[one].cost += kPreference * all;
}

ENode TermExtraction::operator_of(const ENode& node) const {
  return {node.label - terms_.at(node.label).result, node.children};
}

uint32_t TermExtraction::number_of(EClassId id) {
  const auto [place, fresh] = numbers_.try_emplace(id, static_cast<uint32_t>(classes_.size()));
  if (fresh) {
    classes_.push_back(id);
    nodes_.emplace_back();
    problem_.choices.emplace_back();
  }
  return place->second;
}

void TermExtraction::add_choices(EClassId id, const NodeSet& own, const OperatorCost& cost, const Deadline& end) {
  const uint32_t number = number_of(id);
  for (const ENode& node : terms_.egraph().nodes(id)) {
    const ENode whole = operator_of(node);
    if (std::ranges::find(node.children, id) != node.children.end()) continue;
    const uint32_t one = add_operator(whole, own.contains(whole), cost, end);
    if (one == kNotExtracted || std::ranges::find(problem_.choices[number], one) != problem_.choices[number].end())
      continue;
    problem_.choices[number].push_back(one);
    nodes_[number].push_back(node);
  }
}

uint32_t TermExtraction::add_operator(const ENode& node, bool own, const OperatorCost& cost, const Deadline& end) {
  const auto [place, fresh] = operators_.try_emplace(node, kNotExtracted);
  if (!fresh) return place->second;
  std::optional<double> known;
  if (terms_.at(node.label).op == &input_op())
    known = 0;
  else if (const auto graph = end.passed() ? Result<Graph>(fail("no time")) : operator_graph(terms_, node))
    known = cost(*graph);
  if (known && !std::isfinite(*known)) known.reset();
  if (!known && !own) return kNotExtracted;
  ExtractionProblem::Operator made{std::max(0.0, known.value_or(0)), {}};
  for (const EClassId child : node.children)
    if (!is_free(child)) made.needs.push_back(number_of(child));
  place->second = static_cast<uint32_t>(problem_.operators.size());
  problem_.operators.push_back(std::move(made));
  return place->second;
}

bool TermExtraction::forbid(EClassId id, const ENode& node) {
  const auto number = numbers_.find(id);
  if (number == numbers_.end()) return false;
  std::vector<ENode>& nodes = nodes_[number->second];
  const auto found = std::ranges::find(nodes, node);
  if (found == nodes.end()) return false;
  auto& choices = problem_.choices[number->second];
  choices.erase(choices.begin() + (found - nodes.begin()));
  nodes.erase(found);
  return true;
}

std::optional<ENode> TermExtraction::chosen(const Extraction& extraction, EClassId id) const {
  if (is_free(id)) return terms_.egraph().canonical(terms_.egraph().term(terms_.plainest(id)));
  const auto number = numbers_.find(id);
  if (number == numbers_.end() || extraction[number->second] == kNotExtracted) return std::nullopt;
  const auto& choices = problem_.choices[number->second];
  const auto found = std::ranges::find(choices, extraction[number->second]);
  if (found == choices.end()) return std::nullopt;
  return nodes_[number->second][static_cast<size_t>(found - choices.begin())];
}

}  // namespace isomer
