#include "isomer/report/page_data.h"

#include "isomer/ir/diff.h"
#include "isomer/ir/label.h"
#include "isomer/rules/formula.h"
#include "isomer/search/step.h"

namespace isomer {
namespace {

using nlohmann::json;

/// Long texts would only make the page large.
std::string shortened(const std::string& text) {
  constexpr size_t kMaxLength = 160;
  return text.size() <= kMaxLength ? text : text.substr(0, kMaxLength) + " ...";
}

/// "group=1 strides=[2,2]"; the private attributes of opaque nodes are left out.
std::string attrs_line(const Attrs& attrs) {
  std::string out;
  for (const auto& [name, value] : attrs.entries())
    if (!name.starts_with('@')) out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, attr_str(value));
  return shortened(out);
}

std::string types_line(const Graph& graph, const Node& node) {
  std::string out;
  for (uint32_t i = 0; i < node.num_results; ++i) out += (i == 0 ? "" : ", ") + graph.type(node.result(i)).str();
  return shortened(out);
}

std::string weights_line(const Graph& graph, const Node& node) {
  std::string out;
  for (const ValueId operand : graph.operands(node))
    if (operand != kNoValue && graph.is_constant_derived(operand))
      out += (out.empty() ? "" : ", ") + graph.type(operand).str();
  return shortened(out);
}

/// Writes one of the two graphs.
class SideJson {
 public:
  SideJson(const Graph& graph, const std::vector<uint32_t>& regions) : graph_(graph), regions_(regions) {
    index_.assign(graph.nodes().size(), json());
    for (NodeId id = 0; id < graph.nodes().size(); ++id)
      if (is_at_run_time(graph, graph.node(id))) index_[id] = count_++;
  }

  /// Null for a node that is not drawn, and for no node.
  json index(NodeId id) const { return id == kNoNode ? json() : index_[id]; }

  json side(const SideJson& other, const std::vector<NodeId>& partners,
            const std::vector<PlannedKernel>& kernels) const {
    json nodes = json::array();
    json edges = json::array();
    for (NodeId id = 0; id < index_.size(); ++id) {
      if (index_[id].is_null()) continue;
      nodes.push_back(node(id, other.index(partners[id])));
      for (const ValueId operand : graph_.operands(graph_.node(id)))
        if (operand != kNoValue && !index_[graph_.producer(operand)].is_null())
          edges.push_back({index_[graph_.producer(operand)], index_[id]});
    }
    for (const ValueId output : graph_.outputs()) {
      edges.push_back({index_[graph_.producer(output)], nodes.size()});
      nodes.push_back({{"op", "output"},
                       {"kind", "output"},
                       {"name", graph_.name(output)},
                       {"type", graph_.type(output).str()},
                       {"region", json()},
                       {"partner", json()}});
    }
    return {{"nodes", std::move(nodes)}, {"edges", std::move(edges)}, {"kernels", kernels_json(kernels)}};
  }

 private:
  json node(NodeId id, const json& partner) const {
    const Node& node = graph_.node(id);
    return {{"op", op_label(node)},
            {"kind", node.is_input() ? "input" : "op"},
            {"name", node.num_results == 0 ? "" : value_label(graph_, node.result())},
            {"type", types_line(graph_, node)},
            {"attrs", attrs_line(node.attrs)},
            {"weights", weights_line(graph_, node)},
            {"region", regions_[id] == kUnchanged ? json() : json(regions_[id])},
            {"partner", partner}};
  }

  json kernels_json(const std::vector<PlannedKernel>& kernels) const {
    json out = json::array();
    for (const PlannedKernel& kernel : kernels) {
      json nodes = json::array();
      for (const NodeId id : kernel.nodes) nodes.push_back(index_[id]);
      out.push_back({{"nodes", std::move(nodes)}, {"reorder", kernel.reorder}, {"us", kernel.us}});
    }
    return out;
  }

  const Graph& graph_;
  const std::vector<uint32_t>& regions_;
  std::vector<json> index_;  // by node
  size_t count_ = 0;
};

}  // namespace

json page_data(const OptimizeReport& report) {
  const ReportDetails& details = *report.details;
  const GraphDiff diff = diff_graphs(details.before.graph, details.after.graph);
  const SideJson before(details.before.graph, diff.region_before);
  const SideJson after(details.after.graph, diff.region_after);
  const bool found = details.before.hash() != details.after.hash();
  json rules = json::object();
  for (const auto& [name, rule] : details.rules) {
    Rule bare = rule;
    bare.doc.clear();
    rules[name] = {{"doc", rule.doc}, {"formula", rule_formula(rule)}, {"text", print_rule(bare)}};
  }
  return {{"report", to_json(report)},
          {"sides",
           {{"before", before.side(after, diff.alignment.to_after, details.kernels_before)},
            {"after", found ? after.side(before, diff.alignment.to_before, details.kernels_after) : json()}}},
          {"regions", diff.regions},
          {"cost_after", metrics_json(details.cost_after)},
          {"memory_after", memory_json(details.memory_after)},
          {"rules", std::move(rules)}};
}

}  // namespace isomer
