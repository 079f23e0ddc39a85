#include "isomer/optimize/application_prover.h"

namespace isomer {
namespace {

/// The bindings of a replayed instance, in the form that the rule language evaluates.
Binding binding_of(const replay::Variables& variables) {
  Binding out;
  for (const auto& [name, fact] : variables.values) out.values.emplace_back(name, fact.id);
  for (const auto& [name, facts] : variables.sequences) {
    std::vector<ValueId> ids;
    for (const replay::Fact& fact : facts) ids.push_back(fact.id);
    out.sequences.emplace_back(name, std::move(ids));
  }
  for (const auto& [name, value] : variables.attributes) {
    std::visit(
        [&, &key = name]<class T>(const T& known) {
          if constexpr (!std::is_same_v<T, replay::Facts>) out.attrs.emplace_back(key, ExprValue(known));
        },
        value);
  }
  for (const auto& [name, record] : variables.records) out.records.emplace_back(name, record);
  return out;
}

/// Returns a text of everything that a proof of the instance depends on. Equal values of the graph have the same
/// number.
std::string signature(const Graph& graph, const replay::Instance& instance) {
  std::string out = instance.rule.name;
  std::map<ValueId, size_t> numbers;
  const auto add = [&](const replay::Fact& fact) {
    if (fact.id == kNoValue) {
      out += " -";
      return;
    }
    const auto number = numbers.try_emplace(fact.id, numbers.size()).first->second;
    out += fmt::format(" {}:{}", number, graph.type(fact.id).str());
    const Tensor* constant = graph.constant(fact.id);
    if (constant == nullptr) return;
    if (const auto uniform = uniform_value(*constant)) out += fmt::format("={}", *uniform);
    if (constant->dtype() == DType::Int64) out += fmt::format("#{:016x}", constant->hash());
  };
  for (const auto& [name, fact] : instance.variables.values) add(fact);
  for (const auto& [name, facts] : instance.variables.sequences) {
    out += " @";
    for (const replay::Fact& fact : facts) add(fact);
  }
  for (const auto& [name, value] : instance.variables.attributes) out += " " + replay::text_of(value);
  for (const auto& [name, record] : instance.variables.records) out += " " + replay::text_of(record);
  return out;
}

}  // namespace

replay::Watch ApplicationProver::watch() {
  return [this](const Graph& graph, const replay::Instance& instance) { prove(graph, instance); };
}

void ApplicationProver::prove(const Graph& graph, const replay::Instance& instance) {
  const auto [proof, fresh] = known_.try_emplace(signature(graph, instance));
  if (fresh) proof->second = prove_match(instance.rule, binding_of(instance.variables), GraphFacts(graph), solver_);
  AppliedProofs& proofs = proofs_[instance.rule.name];
  ++proofs.applications;
  proofs.proved += proof->second.proved ? 1 : 0;
  proofs.given_up += proof->second.gave_up ? 1 : 0;
  if (!proof->second.proved && proofs.reason.empty()) proofs.reason = proof->second.how;
}

}  // namespace isomer
