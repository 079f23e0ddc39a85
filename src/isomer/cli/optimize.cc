// isomer optimize: finds an equivalent model that runs faster.

#include "isomer/optimize/optimize.h"

#include <memory>

#include "isomer/base/file.h"
#include "isomer/base/printable.h"
#include "isomer/base/progress.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/cli/signals.h"

namespace isomer {
namespace {

struct OptimizeArguments {
  CommandFiles files;  // those that optimize() does not declare
  OptimizeOptions options;
  std::string input;
  std::string output;
  std::string report_file;
  std::string trace_file;
  bool json = false;
};

Result<int> run(OptimizeArguments& choice, const FileUses& uses) {
  wait_for_second_signal();
  OptimizeOptions& options = choice.options;
  options.files = uses;
  options.input = choice.input;
  options.output = choice.output;
  options.details = std::filesystem::path(choice.report_file).extension() == ".html";
  if (!options.costs.locked) make_folder_of(options.costs.profile_db);
  options.stop = &interrupted;
  Trace trace("optimize " + choice.input);
  if (!choice.trace_file.empty()) options.trace = &trace;
  Result<OptimizeReport> report = [&] {
    Progress progress;
    options.progress = [&progress](const std::string& line) { progress.update(line); };
    return optimize(options);
  }();
  if (!report) return tl::unexpected<Error>(report.error());
  if (!choice.trace_file.empty()) ISOMER_CHECK(write_trace(choice.trace_file, trace));
  const nlohmann::json json = to_json(*report);
  if (!choice.report_file.empty())
    ISOMER_CHECK(write_file(choice.report_file, options.details ? html_page(*report) : json_text(json)));
  if (choice.json) {
    print_json(json);
  } else {
    fmt::print("{}", printable_lines(summary(*report)));
  }
  return report->within_limits == false ? kFinding : kDone;
}

}  // namespace

void add_optimize(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("optimize", "Find an equivalent model that runs faster, and write it");
  const auto choice = std::make_shared<OptimizeArguments>();
  OptimizeOptions& options = choice->options;
  CommandFiles::option(*command, "model", choice->input, "ONNX file")->required();
  CommandFiles::option(*command, "-o,--output", choice->output,
                       "ONNX file to write; required unless --dry-run is given");
  options.costs.profile_db = default_profile_db();
  add_each(*command, optimize_options(options));
  choice->files.writes(*command, "--report", choice->report_file,
                       "Also write the report to this file: as a page if its name ends in .html, else as JSON");
  add_trace(*command, choice->files, choice->trace_file, "Write a Chrome trace of the search to this file");
  add_json(*command, choice->json);
  command->footer(
      "Example: isomer optimize model.onnx -o faster.onnx --threads 2\nExit code 1: no graph that keeps the limits was "
      "found.");
  command->callback([choice, &exit_code] {
    exit_code = finish(choice->files, [&](const FileUses& uses) { return run(*choice, uses); });
  });
}

}  // namespace isomer
