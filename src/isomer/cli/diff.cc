// isomer diff: what changed from one model to another.

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "isomer/base/table.h"
#include "isomer/base/version.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/cli/describe.h"
#include "isomer/ir/dot.h"
#include "isomer/onnx/import.h"

namespace isomer {
namespace {

using nlohmann::json;

struct DiffOptions {
  std::string a, b;
  size_t limit = 20;
  bool json = false;
};

/// The computations of `graph` that `other` does not have: [{"op", "name", "type"}]. Equal computations have equal
/// hashes in both graphs. What stands behind a changed node is a changed computation too.
json only_in(const Graph& graph, const Graph& other, bool constants) {
  std::set<uint64_t> known;
  for (const Node& node : other.nodes()) known.insert(node.hash);
  json rows = json::array();
  for (const Node& node : graph.nodes()) {
    if (node.is_input() || node.is_constant() != constants || known.contains(node.hash)) continue;
    rows.push_back({{"op", op_label(node)},
                    {"name", node_name(graph, node)},
                    {"type", node.num_results == 0 ? "" : graph.type(node.result()).str()}});
  }
  return rows;
}

std::map<std::string, std::pair<int64_t, int64_t>> op_counts(const Graph& a, const Graph& b) {
  std::map<std::string, std::pair<int64_t, int64_t>> counts;
  for (const Node& node : a.nodes()) counts[op_label(node)].first += 1;
  for (const Node& node : b.nodes()) counts[op_label(node)].second += 1;
  counts.erase("Input");
  return counts;
}

json compare_models(const DiffOptions& options, const Model& a, const Model& b) {
  json report = {{"schema", "isomer.diff.v1"},
                 {"isomer", version()},
                 {"models", {options.a, options.b}},
                 {"equal", a.graph.hash() == b.graph.hash()},
                 {"inputs", {{"before", interface_json(a, false)}, {"after", interface_json(b, false)}}},
                 {"outputs", {{"before", interface_json(a, true)}, {"after", interface_json(b, true)}}},
                 {"ops", json::object()},
                 {"only_before", only_in(a.graph, b.graph, false)},
                 {"only_after", only_in(b.graph, a.graph, false)},
                 {"constants_only_before", only_in(a.graph, b.graph, true)},
                 {"constants_only_after", only_in(b.graph, a.graph, true)}};
  for (const auto& [op, count] : op_counts(a.graph, b.graph)) {
    report["ops"][op] = {{"before", count.first}, {"after", count.second}};
  }
  return report;
}

void print_interface_changes(const char* kind, const json& sides) {
  const auto& before = sides["before"];
  const auto& after = sides["after"];
  for (const json& row : before) {
    if (std::ranges::find(after, row) == after.end()) {
      fmt::print("- {} {} {}\n", kind, row["name"].get<std::string>(), row["type"].get<std::string>());
    }
  }
  for (const json& row : after) {
    if (std::ranges::find(before, row) == before.end()) {
      fmt::print("+ {} {} {}\n", kind, row["name"].get<std::string>(), row["type"].get<std::string>());
    }
  }
}

void print_nodes(const char* heading, char sign, const json& rows, size_t limit) {
  if (rows.empty()) return;
  fmt::print("\n{} ({}):\n", heading, rows.size());
  Table table({"<", "<op", "<name", "<type"});
  for (size_t i = 0; i < std::min(rows.size(), limit); ++i) {
    const auto cell = [&](const char* key) { return rows[i][key].get<std::string>(); };
    table.row({std::string(1, sign), cell("op"), cell("name"), cell("type")});
  }
  fmt::print("{}", table.str());
  if (rows.size() > limit) fmt::print("... and {} more (--limit, --json)\n", rows.size() - limit);
}

void print_report(const json& report, size_t limit) {
  if (report["equal"].get<bool>()) fmt::print("the same computation\n");
  print_interface_changes("input", report["inputs"]);
  print_interface_changes("output", report["outputs"]);
  Table table({"<op", ">before", ">after", ">change"});
  bool changed = false;
  for (const auto& [op, count] : report["ops"].items()) {
    const auto before = count["before"].get<int64_t>(), after = count["after"].get<int64_t>();
    if (before == after) continue;
    changed = true;
    table.row({op, grouped(before), grouped(after), fmt::format("{:+}", after - before)});
  }
  if (changed) fmt::print("{}", table.str());
  print_nodes("only before", '-', report["only_before"], limit);
  print_nodes("only after", '+', report["only_after"], limit);
  fmt::print("{}constants: {} only before, {} only after\n", report["equal"].get<bool>() ? "" : "\n",
             report["constants_only_before"].size(), report["constants_only_after"].size());
}

Result<int> diff(const DiffOptions& options) {
  ISOMER_TRY(const Model a, import_model(options.a));
  ISOMER_TRY(const Model b, import_model(options.b));
  const json report = compare_models(options, a, b);
  if (options.json) {
    print_json(report);
  } else {
    print_report(report, options.limit);
  }
  return kDone;
}

}  // namespace

void add_diff(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("diff", "Show what changed from one model to another");
  const auto options = std::make_shared<DiffOptions>();
  command->add_option("a", options->a, "ONNX file: before")->required();
  command->add_option("b", options->b, "ONNX file: after")->required();
  command->add_option("--limit", options->limit, "How many nodes of each side to list")->capture_default_str();
  add_json(*command, options->json);
  command->footer(
      "Example: isomer diff model.onnx faster.onnx\nNodes are compared by what they compute, not by name; all that "
      "depends on a changed node has changed.");
  command->callback([options, &exit_code] { exit_code = finish(diff(*options)); });
}

}  // namespace isomer
