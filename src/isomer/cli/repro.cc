// isomer repro: repeats the experiments of the papers.

#include <memory>

#include "isomer/base/progress.h"
#include "isomer/base/table.h"
#include "isomer/base/version.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/cli/repro_results.h"
#include "isomer/repro/items.h"

namespace isomer {
namespace {

using nlohmann::json;

struct ReproCommand {
  CommandFiles files;
  std::string item;
  bool list = false;
  ReproOptions options;
  std::string csv_file;
  std::string svg_file;
  bool json = false;
};

int list_items(bool as_json) {
  json report = {{"schema", "isomer.repro.v1"}, {"isomer", version()}, {"items", json::array()}};
  Table table({"<item", "<title", "<reproduced"});
  for (const ReproItem& item : all_items()) {
    table.row({item.id, item.title, item.reproduced() ? "yes" : "no: " + item.why_not});
    json& listed =
        report["items"].emplace_back(json{{"id", item.id}, {"title", item.title}, {"reproduced", item.reproduced()}});
    if (item.reproduced()) {
      listed["networks"] = item.experiment.networks;
    } else {
      listed["reason"] = item.why_not;
    }
  }
  if (as_json) {
    print_json(report);
  } else {
    fmt::print("{}", table.str());
  }
  return kDone;
}

/// The command that repeats one item of the run.
std::string repeated(const ReproCommand& command, const ReproItem& item) {
  const ReproOptions defaults;
  std::string out = "isomer repro " + item.id;
  for (const std::string& network : item.experiment.networks)
    if (!command.options.networks.empty() && command.options.includes(network)) out += " --network " + network;
  if (command.options.time_budget_seconds != defaults.time_budget_seconds)
    out += fmt::format(" --time-budget {}", command.options.time_budget_seconds);
  if (command.options.search_memory != defaults.search_memory)
    out += fmt::format(" --search-memory {}", command.options.search_memory);
  if (item.experiment.with_torch && !command.options.torch.empty()) out += " --torch " + command.options.torch;
  return out;
}

Status run_item(const ReproCommand& command, const ReproItem& item, ReproResults& results) {
  Result<ExperimentResult> result = [&] {
    Progress progress;
    ReproOptions options = command.options;
    options.observer.progress = [&](const std::string& text) { progress.update(item.id + ": " + text); };
    return in_context(item.id, item.experiment.run(options));
  }();
  if (!result) return tl::unexpected<Error>(result.error());
  return results.add({&item, repeated(command, item), std::move(*result)});
}

Result<int> repro(const ReproCommand& command) {
  if (command.list) return list_items(command.json);
  if (command.item.empty()) return fail("an item is needed; `isomer repro --list` lists them");
  ISOMER_TRY(std::vector<ReproItem> called, items_called(command.item));
  ISOMER_TRY(const std::vector<ReproItem> items,
             in_context("--network", items_with(command.options.networks, std::move(called))));
  if (!command.svg_file.empty() && std::ranges::none_of(items, &ReproItem::plotted))
    return fail(
        "{}{} has no plots for --svg", command.item,
        command.options.networks.empty() ? "" : fmt::format(" of {}", fmt::join(command.options.networks, ", ")));
  const auto with_torch = [](const ReproItem& item) { return item.experiment.with_torch; };
  if (!command.options.torch.empty() && std::ranges::none_of(items, with_torch))
    return fail("--torch: {} does not run PyTorch", command.item);
  ISOMER_TRY(ReproResults results, ReproResults::open(command.csv_file, command.svg_file, command.json));
  Status status;
  for (const ReproItem& item : items)
    if (status = run_item(command, item, results); !status) break;
  ISOMER_CHECK(results.finish());
  ISOMER_CHECK(status);
  return kDone;
}

}  // namespace

void add_repro(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand("repro", "Repeat the experiments of the papers");
  const auto command = std::make_shared<ReproCommand>();
  CLI::Option* const list =
      sub->add_flag("--list", command->list, "List all tables and figures, and why some are not reproduced");
  sub->add_option("item", command->item, "A table or figure, or a paper: all of its items that are reproduced")
      ->excludes(list);
  add_repeated(*sub, "--network", command->options.networks,
               "Run only this network; a wrong name lists the networks of the item")
      ->excludes(list);
  add_option(*sub, time_budget_option(command->options.time_budget_seconds,
                                      "Maximum seconds of each search; searches that it ends are marked"));
  add_option(*sub, search_memory_option(command->options.search_memory));
  sub->add_option("--torch", command->options.torch,
                  "A Python with torch and onnx; metaflow-f9 then runs training steps in PyTorch, too")
      ->type_name("PYTHON")
      ->check(
          [](const std::string& python) { return std::string(python.empty() ? "the name of a Python is needed" : ""); })
      ->excludes(list);
  command->files.writes(*sub, "--csv", command->csv_file, "Write the rows to a CSV file")->excludes(list);
  command->files.writes(*sub, "--svg", command->svg_file, "Write the figures as plots to an SVG file")->excludes(list);
  add_json(*sub, command->json);
  sub->footer(
      "Example: isomer repro metaflow-t3 --network alexnet --csv alexnet.csv\n"
      "docs/reference/repro.md describes the items.");
  sub->callback(
      [command, &exit_code] { exit_code = finish(command->files, [&](FileUses&) { return repro(*command); }); });
}

}  // namespace isomer
