// isomer optimize: the main job.

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

struct Arguments {
  CommandFiles files;  // those that optimize() does not declare itself
  OptimizeOptions options;
  InputChoice random;
  std::string input;
  std::string output;
  std::string report_file;
  std::string trace_file;
  std::string objective = "latency_us";
  double memory_limit = 0;
  bool json = false;
};

Result<int> run(Arguments& choice, const FileUses& uses) {
  const Interruptible interruptible;
  OptimizeOptions& options = choice.options;
  options.files = uses;
  options.input = choice.input;
  options.output = choice.output;
  options.seed = choice.random.seed;
  options.details = std::filesystem::path(choice.report_file).extension() == ".html";
  ISOMER_TRY(options.objective, Objective::parse(choice.objective));
  if (choice.memory_limit > 0)
    ISOMER_CHECK(options.objective.add_limit(fmt::format("peak_bytes <= {}", choice.memory_limit)));
  make_folder_of(options.costs.profile_db);
  ISOMER_TRY(options.shapes, choice.random.shape_options());
  options.stop = &Interruptible::interrupted;
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
  const auto choice = std::make_shared<Arguments>();
  OptimizeOptions& options = choice->options;
  CommandFiles::option(*command, "model", choice->input, "ONNX file")->required();
  CommandFiles::option(*command, "-o,--output", choice->output, "Where the optimized model goes");
  command->add_flag("--force", options.force, "Let -o overwrite the input");
  command->add_flag("--dry-run", options.dry_run, "Search and measure, write nothing");
  CommandFiles declared_by_optimize;
  add_costs(*command, options.costs, declared_by_optimize, {"ort", "onednn", "roofline"});
  command
      ->add_option("--objective", choice->objective,
                   "latency, memory, flops, kernels, bytes, or an expression: \"latency_us + 0.1 * kernels\"")
      ->capture_default_str();
  command
      ->add_option("--memory-limit", choice->memory_limit,
                   "Bytes of activations that may live at the same time; exit code 1 where nothing keeps it")
      ->check(in_range(NumberRange{.least = 0, .open = true}));
  command->add_flag("--costs-only", options.costs_only, "Let the costs of kernels decide, and time no complete model");
  command->add_flag("--locked", options.costs.locked,
                    "As --costs-only, and measure no kernel: one that is not in the profile database is an error");
  command->add_option("--search", options.search.search, "How to search")
      ->check(CLI::IsMember(search_names()))
      ->capture_default_str();
  command
      ->add_option("--alpha", options.search.alpha, "Backtracking keeps candidates up to this many times the best cost")
      ->check(in_range(kAlpha))
      ->capture_default_str();
  command->add_option("--split", options.search.split, "Backtracking in parts of at most this many operators; 0: whole")
      ->check(in_range(kSplit))
      ->capture_default_str();
  command->add_option("--max-candidates", options.search.max_candidates, "Graphs that may be costed in one part")
      ->check(in_range(kMaxCandidates))
      ->capture_default_str();
  command
      ->add_option("--time-budget", options.search.time_budget_seconds,
                   "Seconds that all but the final confirmation may take")
      ->check(in_range(kTimeBudget))
      ->capture_default_str();
  CommandFiles::option(*command, "--rules", options.rules_file, "A rule file instead of the built-in rules");
  add_repeated(*command, "--skip-rule", options.skip_rules, "A rule not to use");
  command->add_flag("--allow-tested", options.allow_tested,
                    "Also hand out what rests on rules that are tested, but neither proved in general nor as applied");
  command
      ->add_option("--tolerance", options.tolerance, "Largest difference of outputs, relative to the largest element")
      ->check(in_range(kTolerance))
      ->capture_default_str();
  choice->files.writes(*command, "--report", choice->report_file,
                       "Write the report to this file too: a page where it ends in .html, else JSON");
  add_trace(*command, choice->files, choice->trace_file, "Write a Chrome trace of the search to this file");
  CommandFiles::option(*command, "--certificate", options.certificate,
                       "Write what `isomer verify` needs to check the output: every step, every folded constant");
  choice->random.add_to(*command);
  add_json(*command, choice->json);
  command->footer("Example: isomer optimize model.onnx -o faster.onnx --threads 2");
  command->callback([choice, &exit_code] {
    exit_code = finish(choice->files, [&](const FileUses& uses) { return run(*choice, uses); });
  });
}

}  // namespace isomer
