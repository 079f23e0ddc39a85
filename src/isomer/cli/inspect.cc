// isomer inspect: shows what a model consists of.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "isomer/base/file.h"
#include "isomer/base/printable.h"
#include "isomer/base/table.h"
#include "isomer/base/version.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/cli/describe.h"
#include "isomer/cli/inspect_costs.h"
#include "isomer/ir/dot.h"
#include "isomer/ir/label.h"
#include "isomer/onnx/import.h"
#include "isomer/plan/stored_decisions.h"

namespace isomer {
namespace {

using nlohmann::json;

struct InspectOptions {
  CommandFiles files;
  std::string model;
  std::string dot;
  ShapeOptions shapes;
  CostChoice costs;
  bool json = false;
};

/// All nodes of one operator.
struct OpRow {
  std::string name;
  int64_t count = 0;
  int64_t folded = 0;  // those of them that depend only on constants and cost nothing at run time
  Work work;
};

std::vector<OpRow> op_rows(const Graph& graph, const Extents& extents) {
  std::map<std::string, OpRow> by_name;
  for (const Node& node : graph.nodes()) {
    if (node.is_input() || node.is_constant()) continue;
    OpRow& row = by_name[op_label(node)];
    ++row.count;
    if (!graph.runs(node)) {
      ++row.folded;
      continue;
    }
    const Work work = work_of(graph, node, extents);
    row.work.flops += work.flops;
    row.work.bytes += work.bytes;
  }
  std::vector<OpRow> rows;
  for (auto& [name, row] : by_name) {
    row.name = name;
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, [](const OpRow& a, const OpRow& b) {
    return std::tie(b.work.flops, b.count) < std::tie(a.work.flops, a.count);
  });
  return rows;
}

json report_of(const InspectOptions& options, const Model& model, const std::vector<OpRow>& rows,
               const GraphWork& work) {
  json report = {{"schema", "isomer.inspect.v1"},
                 {"isomer", version()},
                 {"model", options.model},
                 {"opset", opset_of(model)},
                 {"opsets", opset_imports(model)},
                 {"inputs", interface_json(model, false)},
                 {"outputs", interface_json(model, true)},
                 {"flops", work.run.flops},
                 {"bytes", work.run.bytes},
                 {"parameters", work.parameters},
                 {"parameter_bytes", work.parameter_bytes},
                 {"peak_activation_bytes", work.peak_activation_bytes},
                 {"ops", json::array()},
                 {"opaque", json::array()}};
  for (const OpRow& row : rows) {
    report["ops"].push_back({{"op", row.name},
                             {"count", row.count},
                             {"of_constants", row.folded},
                             {"flops", row.work.flops},
                             {"bytes", row.work.bytes}});
  }
  for (const Node& node : model.graph.nodes()) {
    if (!node.is_opaque()) continue;
    report["opaque"].push_back(
        {{"op", op_label(node)}, {"name", node_name(model.graph, node)}, {"why", why_opaque(model.graph, node)}});
  }
  return report;
}

/// Returns "17, com.microsoft 1", with the standard operator set first.
std::string opsets_text(const Model& model) {
  std::string text;
  for (const auto& [domain, version] : opset_imports(model))
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", domain.empty() ? "" : printable(domain) + " ", version);
  return text;
}

void print_interface(const Model& model) {
  Table table({"<", "<", "<", "<"});
  const auto add = [&](const char* kind, const json& rows) {
    for (const json& row : rows)
      table.row({kind, row["name"].get<std::string>(), row["type"].get<std::string>(),
                 row.value("has_default", false) ? "has a default" : ""});
  };
  add("input", interface_json(model, false));
  add("output", interface_json(model, true));
  // The headings are blank.
  const std::string text = table.str();
  fmt::print("{}", text.substr(text.find('\n') + 1));
}

void print_opaque(const Graph& graph) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
  for (const Node& node : graph.nodes()) {
    if (node.is_opaque()) groups[{op_label(node), why_opaque(graph, node)}].push_back(node_name(graph, node));
  }
  if (groups.empty()) return;
  fmt::print("\nopaque (kept as they are, never rewritten):\n");
  Table table({"<op", ">count", "<first", "<why"});
  for (const auto& [key, names] : groups) {
    table.row({key.first, fmt::format("{}", names.size()), names.front(), key.second});
  }
  fmt::print("{}", table.str());
}

void print_decision_rows(const json& rows) {
  if (rows.empty()) return;
  fmt::print("\ndecisions in the file, which the built-in runtime obeys where it can:\n");
  Table table({"<value", "<decision", "<"});
  for (const json& row : rows) {
    const json& no_effect = row["no_effect"];
    table.row({row["value"].get<std::string>(),
               fmt::format("{} {}", row["choice"].get<std::string>(), row["kind"].get<std::string>()),
               no_effect.is_null() ? "" : "no effect: " + no_effect.get<std::string>()});
  }
  fmt::print("{}", table.str());
}

void print_report(const Model& model, const std::vector<OpRow>& rows, const GraphWork& work) {
  print_interface(model);
  fmt::print("\n");
  Table table({"<op", ">count", ">FLOPs", ">bytes", "<"});
  int64_t count = 0;
  for (const OpRow& row : rows) {
    count += row.count;
    table.row({row.name, grouped(row.count), metric(row.work.flops), byte_str(row.work.bytes),
               row.folded == 0 ? "" : fmt::format("{} of constants only", row.folded)});
  }
  table.row({"total", grouped(count), metric(work.run.flops), byte_str(work.run.bytes)});
  fmt::print("{}\nparameters {} ({}), peak activations {} node by node, opset {}\n", table.str(),
             grouped(work.parameters), byte_str(work.parameter_bytes), byte_str(work.peak_activation_bytes),
             opsets_text(model));
  print_opaque(model.graph);
}

Result<int> inspect(const InspectOptions& options, FileUses& uses) {
  ISOMER_TRY(const Model model, import_model(options.model, uses));
  ISOMER_TRY(const SymbolValues symbols, in_context(options.model, symbol_values(model, options.shapes)));
  const Extents extents = extents_of(model.graph, symbols);
  const std::vector<OpRow> rows = op_rows(model.graph, extents);
  const GraphWork work = graph_work(model.graph, extents);
  ISOMER_CHECK(uses.unchanged());
  if (!options.dot.empty()) ISOMER_CHECK(write_file(options.dot, dot_graph(model.graph)));
  ISOMER_TRY(Decisions decisions, in_context(options.model, stored_decisions(model)));
  const Candidate candidate(model.graph, std::move(decisions));
  std::optional<PlanFacts> plan;
  if (options.costs.engine_given) {
    ISOMER_TRY(plan, in_context(options.model, plan_facts(options.costs, candidate, symbols)));
  }
  std::optional<ModelCosts> costs;
  if (options.costs.wanted) {
    ISOMER_TRY(costs, in_context(options.model, model_costs(options.costs, candidate, symbols)));
    if (plan) costs->metrics.peak_bytes = static_cast<double>(plan->memory.total());
    if (options.costs.engine.options.streams > 1) {
      ISOMER_TRY(costs->streams,
                 in_context(options.model, stream_costs(options.costs, options.model, model, options.shapes)));
    }
    if (!options.costs.roofline.empty()) ISOMER_CHECK(write_roofline(options.costs, options.model, *costs));
  }
  if (options.json) {
    json report = report_of(options, model, rows, work);
    report["decisions"] = decision_rows(model.graph, candidate.decisions);
    if (plan) report["plan"] = to_json(*plan);
    if (costs) report["costs"] = to_json(*costs);
    print_json(report);
  } else {
    print_report(model, rows, work);
    print_decision_rows(decision_rows(model.graph, candidate.decisions));
    if (plan) print_plan(*plan);
    if (costs) print_costs(*costs);
  }
  return kDone;
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("inspect", "Show operators, work and memory of a model");
  const auto options = std::make_shared<InspectOptions>();
  options->files.reads(*command, "model", options->model, "ONNX file")->required();
  options->files.writes(*command, "--dot", options->dot, "Write the graph as a Graphviz file");
  add_option(*command, shapes_option(options->shapes));
  options->costs.add_to(*command, options->files);
  add_json(*command, options->json);
  command->footer("Example: isomer inspect model.onnx --dot model.dot && dot -Tsvg model.dot > model.svg");
  command->callback([options, command, &exit_code] {
    options->costs.engine_given = command->count("--engine") > 0;
    exit_code = finish(options->files, [&](FileUses& uses) { return inspect(*options, uses); });
  });
}

}  // namespace isomer
