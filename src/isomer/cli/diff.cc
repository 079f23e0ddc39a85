// isomer diff: shows what changed from one model to another.

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "isomer/base/file.h"
#include "isomer/base/printable.h"
#include "isomer/base/table.h"
#include "isomer/base/version.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/cli/describe.h"
#include "isomer/ir/dot_diff.h"
#include "isomer/ir/label.h"
#include "isomer/onnx/content.h"
#include "isomer/onnx/import.h"

namespace isomer {
namespace {

using nlohmann::json;

struct DiffOptions {
  CommandFiles files;
  std::string a, b;
  size_t limit = 40;
  std::string dot;
  DotDiffOptions picture;
  bool json = false;
};

/// Returns the changed nodes, region by region: [{"region", "op", "name", "type"}].
json changed_nodes(const Graph& graph, const std::vector<uint32_t>& regions) {
  std::vector<NodeId> nodes;
  for (NodeId id = 0; id < regions.size(); ++id)
    if (regions[id] != kUnchanged) nodes.push_back(id);
  std::ranges::stable_sort(nodes, {}, [&](NodeId id) { return regions[id]; });
  json rows = json::array();
  for (const NodeId id : nodes) {
    const Node& node = graph.node(id);
    rows.push_back({{"region", regions[id] + 1},
                    {"op", op_label(node)},
                    {"name", node_name(graph, node)},
                    {"type", node.num_results == 0 ? "" : graph.type(node.result()).str()}});
  }
  return rows;
}

/// Returns how many constants of `graph` the other graph does not have.
size_t constants_only_in(const Graph& graph, const Graph& other) {
  std::set<uint64_t> known;
  for (const Node& node : other.nodes()) known.insert(node.hash);
  return static_cast<size_t>(std::ranges::count_if(
      graph.nodes(), [&](const Node& node) { return node.is_constant() && !known.contains(node.hash); }));
}

std::map<std::string, std::pair<int64_t, int64_t>> op_counts(const Graph& a, const Graph& b) {
  std::map<std::string, std::pair<int64_t, int64_t>> counts;
  for (const Node& node : a.nodes()) counts[op_label(node)].first += 1;
  for (const Node& node : b.nodes()) counts[op_label(node)].second += 1;
  counts.erase("Input");
  return counts;
}

/// Returns the inputs of both models whose defaults differ.
std::vector<std::string> changed_defaults(const Model& a, const Model& b) {
  std::map<std::string, const Tensor*> before;
  for (size_t i = 0; i < a.graph.inputs().size(); ++i) before.emplace(input_name(a, i), input_default(a, i));
  std::vector<std::string> names;
  for (size_t i = 0; i < b.graph.inputs().size(); ++i) {
    const auto at = before.find(input_name(b, i));
    if (at == before.end()) continue;
    const Tensor* after = input_default(b, i);
    const bool same =
        (at->second == nullptr) == (after == nullptr) && (after == nullptr || at->second->hash() == after->hash());
    if (!same) names.push_back(at->first);
  }
  return names;
}

/// Returns the functions that differ, or that only one of the models has.
std::set<std::string> changed_functions(const Model& a, const Model& b) {
  const std::map<std::string, std::string> before = functions_by_name(a), after = functions_by_name(b);
  std::set<std::string> names;
  for (const auto& [name, content] : before) {
    const auto at = after.find(name);
    if (at == after.end() || at->second != content) names.insert(name);
  }
  for (const auto& [name, content] : after)
    if (!before.contains(name)) names.insert(name);
  return names;
}

json compare_models(const DiffOptions& options, const Model& a, const Model& b, const GraphDiff& changes) {
  const std::vector<std::string> defaults = changed_defaults(a, b);
  const std::set<std::string> functions = changed_functions(a, b);
  json report = {{"schema", "isomer.diff.v1"},
                 {"isomer", version()},
                 {"models", {options.a, options.b}},
                 {"equal", a.graph.hash() == b.graph.hash() && defaults.empty() && functions.empty()},
                 {"changed_defaults", defaults},
                 {"changed_functions", functions},
                 {"inputs", {{"before", interface_json(a, false)}, {"after", interface_json(b, false)}}},
                 {"outputs", {{"before", interface_json(a, true)}, {"after", interface_json(b, true)}}},
                 {"ops", json::object()},
                 {"regions", changes.regions},
                 {"only_before", changed_nodes(a.graph, changes.region_before)},
                 {"only_after", changed_nodes(b.graph, changes.region_after)},
                 {"constants_only_before", constants_only_in(a.graph, b.graph)},
                 {"constants_only_after", constants_only_in(b.graph, a.graph)}};
  for (const auto& [op, count] : op_counts(a.graph, b.graph)) {
    report["ops"][op] = {{"before", count.first}, {"after", count.second}};
  }
  return report;
}

std::string interface_line(const char* kind, const json& row) {
  return fmt::format("{} {} {}{}", kind, printable(row["name"].get<std::string>()), row["type"].get<std::string>(),
                     row.value("has_default", false) ? ", has a default" : "");
}

void print_interface_changes(const char* kind, const json& sides) {
  const auto& before = sides["before"];
  const auto& after = sides["after"];
  for (const json& row : before) {
    if (std::ranges::find(after, row) == after.end()) fmt::print("- {}\n", interface_line(kind, row));
  }
  for (const json& row : after) {
    if (std::ranges::find(before, row) == before.end()) fmt::print("+ {}\n", interface_line(kind, row));
  }
}

/// Prints the changed nodes of each region, first those before, then those after.
void print_regions(const json& report, size_t limit) {
  std::vector<std::pair<char, json>> rows;
  for (const json& row : report["only_before"]) rows.emplace_back('-', row);
  for (const json& row : report["only_after"]) rows.emplace_back('+', row);
  if (rows.empty()) return;
  std::ranges::stable_sort(rows, {}, [](const auto& row) { return row.second["region"].template get<int>(); });
  const auto regions = report["regions"].get<int>();
  fmt::print("\n{} changed {}:\n", regions, regions == 1 ? "region" : "regions");
  Table table({">region", "<", "<op", "<name", "<type"});
  for (size_t i = 0; i < std::min(rows.size(), limit); ++i) {
    const auto& [sign, row] = rows[i];
    const bool first = i == 0 || rows[i - 1].second["region"] != row["region"];
    table.row({first ? row["region"].dump() : "", std::string(1, sign), row["op"].get<std::string>(),
               row["name"].get<std::string>(), row["type"].get<std::string>()});
  }
  fmt::print("{}", table.str());
  if (rows.size() > limit) fmt::print("... and {} more (--limit, --json)\n", rows.size() - limit);
}

void print_report(const json& report, size_t limit) {
  if (report["equal"].get<bool>()) fmt::print("the same computation\n");
  print_interface_changes("input", report["inputs"]);
  print_interface_changes("output", report["outputs"]);
  for (const json& name : report["changed_defaults"])
    fmt::print("the default of input '{}' differs\n", printable(name.get<std::string>()));
  for (const json& name : report["changed_functions"])
    fmt::print("the function '{}' differs\n", printable(name.get<std::string>()));
  Table table({"<op", ">before", ">after", ">change"});
  bool changed = false;
  for (const auto& [op, count] : report["ops"].items()) {
    const auto before = count["before"].get<int64_t>(), after = count["after"].get<int64_t>();
    if (before == after) continue;
    changed = true;
    table.row({op, grouped(before), grouped(after), fmt::format("{:+}", after - before)});
  }
  if (changed) fmt::print("{}", table.str());
  print_regions(report, limit);
  fmt::print("{}constants: {} only before, {} only after\n", report["equal"].get<bool>() ? "" : "\n",
             report["constants_only_before"].get<int>(), report["constants_only_after"].get<int>());
}

Result<int> diff(const DiffOptions& options, FileUses& uses) {
  ISOMER_TRY(const Model a, import_model(options.a, uses));
  ISOMER_TRY(const Model b, import_model(options.b, uses));
  const GraphDiff changes = diff_graphs(a.graph, b.graph);
  ISOMER_CHECK(uses.unchanged());
  if (!options.dot.empty()) ISOMER_CHECK(write_file(options.dot, dot_diff(a.graph, b.graph, changes, options.picture)));
  const json report = compare_models(options, a, b, changes);
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
  options->files.reads(*command, "a", options->a, "ONNX file before the change")->required();
  options->files.reads(*command, "b", options->b, "ONNX file after the change")->required();
  command->add_option("--limit", options->limit, "Maximum number of changed nodes to list")
      ->check(in_range(IntegerRange{.min = 0}))
      ->capture_default_str();
  options->files.writes(*command, "--dot", options->dot,
                        "Write both graphs, with the changes marked, as a Graphviz file");
  command
      ->add_option("--hops", options->picture.hops,
                   "In the picture: maximum distance of unchanged nodes from a changed one")
      ->check(in_range(IntegerRange{.min = 0, .max = 1000000}))
      ->capture_default_str();
  command->add_flag("--all", options->picture.all, "In the picture: show all nodes");
  add_json(*command, options->json);
  command->footer(
      "Example: isomer diff model.onnx faster.onnx --dot diff.dot && dot -Tsvg diff.dot > diff.svg\nA node has changed "
      "if the other model has no node with the same operator, attributes and weights in its place.");
  command->callback([options, &exit_code] {
    exit_code = finish(options->files, [&](FileUses& uses) { return diff(*options, uses); });
  });
}

}  // namespace isomer
