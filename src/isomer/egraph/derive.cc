#include "isomer/egraph/derive.h"

#include <fmt/ranges.h>

#include "isomer/ir/text.h"

namespace isomer {
namespace {

std::string constant_text(const TermLabel& label) {
  if (!label.name.empty()) return "?" + label.name;
  const Tensor& tensor = label.attrs.tensor("value");
  const auto number = uniform_value(tensor);
  if (number && tensor.dims().empty()) return float_str(*number, false);
  return tensor_str(tensor, 16);
}

std::string label_text(const TermLabel& label) {
  std::string out = label.op->name;
  for (const auto& [name, value] : label.attrs.entries()) {
    const AttrDef* def = label.op->find_attr(name);
    if (def == nullptr || !def->preset || !(*def->preset == value)) out += fmt::format(" {}={}", name, attr_str(value));
  }
  return out;
}

}  // namespace

Derivation::Derivation(const std::vector<Direction>& directions, const DeriveLimits& limits,
                       std::map<uint64_t, std::string> weights)
    : limits_(limits), graph_(std::move(weights), limits.all_weights), saturation_(graph_, directions, limits_) {}

Result<bool> Derivation::run(const Graph& before, const Graph& after) {
  ISOMER_TRY(const EClassId a, graph_.add(before));
  ISOMER_TRY(const EClassId b, graph_.add(after));
  stopped_by_ = saturation_.run(a, b);
  if (!stopped_by_.empty()) return false;
  Explainer explainer(graph_.egraph());
  start_ = explainer.term(a);
  const auto steps = explainer.chain(a, b);
  if (!steps) {
    stopped_by_ = "the chain is too long";
    return false;
  }
  for (const EStep& step : *steps) {
    const auto& reason = saturation_.reason(graph_.egraph().unions()[step.union_index].reason);
    chain_.push_back({reason.application, reason.root, step.forward, step.after});
  }
  return true;
}

std::string term_text(const TermGraph& graph, const ETerm& term) {
  const TermLabel& label = graph.at(term.label);
  if (label.op == &input_op()) return "?" + label.name;
  if (label.op == &constant_op()) return constant_text(label);
  std::vector<std::string> children;
  for (const ETermPtr& child : term.children) children.push_back(term_text(graph, *child));
  if (label.op == nullptr)  // outputs, or an absent operand
    return children.empty() ? label.name : fmt::format("{}", fmt::join(children, ", "));
  std::string out = "(" + label_text(label);
  for (const std::string& child : children) out += " " + child;
  out += ')';
  return label.results == 1 ? out : fmt::format("{}[{}]", out, label.result);
}

}  // namespace isomer
