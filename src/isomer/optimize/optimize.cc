#include "isomer/optimize/optimize.h"

#include <cmath>
#include <list>

#include "isomer/base/file.h"
#include "isomer/base/memory.h"
#include "isomer/certificate/merge_inputs.h"
#include "isomer/cost/profile_db.h"
#include "isomer/onnx/content.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/optimize/certify.h"
#include "isomer/optimize/choose_teams.h"
#include "isomer/optimize/confirm.h"
#include "isomer/optimize/fill_report.h"
#include "isomer/optimize/merge_parameters.h"
#include "isomer/optimize/model_search.h"
#include "isomer/optimize/options_table.h"
#include "isomer/optimize/phase.h"
#include "isomer/plan/stored_decisions.h"

namespace isomer {
namespace {

Status check_options(const OptimizeOptions& options) {
  OptimizeOptions copy = options;
  for (const Option& option : optimize_options(copy))
    if (const Status status = option.check(option.get()); !status) return fail_in(option.name, status.error());
  if (options.dry_run && !options.certificate.empty()) return fail("a dry run has no output to certify");
  if (options.dry_run) return {};
  if (options.output.empty()) return fail("an output file is needed: -o OUT.onnx (or --dry-run)");
  std::error_code error;
  if (!options.certificate.empty() && exists(options.output, error) && !is_regular_file(options.output, error))
    return fail("{}: a certificate needs an output that is a regular file", options.output.string());
  return {};
}

/// Returns the files of a run, without the external data of the model.
FileUses files_of(const OptimizeOptions& options) {
  FileUses uses = options.files;
  uses.reads("the model", options.input);
  uses.reads("the rules", options.rules_file);
  ProfileDb::declare(options.costs.profile_db, uses);
  if (options.dry_run) return uses;
  uses.writes("the output", options.output, options.force, "give --force");
  uses.writes("the certificate", options.certificate);
  return uses;
}

/// Returns the budget of the search, which begins now. If no complete graph is timed, the time is not divided between
/// searches, so that the result does not depend on the speed of the machine.
Budget budget_of(const OptimizeOptions& options) {
  Budget budget = options.search.budget(options.stop);
  if (options.costs_only || options.costs.locked) budget.end = budget.end.undivided();
  return budget;
}

/// Runs one optimization.
class Pipeline {
 public:
  explicit Pipeline(const OptimizeOptions& options)
      : options_(options), budget_(budget_of(options)), files_(files_of(options)) {}

  /// Runs the pipeline. If it fails after the model or the rules changed on disk, the Error says that they changed.
  Result<OptimizeReport> run() {
    auto report = run_unwatched();
    if (!report && !(writing_ && options_.force)) ISOMER_CHECK(files_.unchanged());
    return report;
  }

 private:
  Result<OptimizeReport> run_unwatched() {
    ISOMER_CHECK(check_options(options_));
    ISOMER_CHECK(files_.check());
    ISOMER_CHECK(files_.writable());
    report_ = begin_report(options_);
    options_.progress("importing " + options_.input.string());
    TraceScope whole(options_.trace, "optimize", "phase");
    ISOMER_CHECK(phase("import", [&] { return import(); }));
    ISOMER_TRY(const RuleSet rules,
               phase("read rules", [&] { return usable_rules(options_.rules_file, options_.skip_rules); }));
    if (options_.merge_parameters) ISOMER_CHECK(phase("merge parameters", [&] { return add_merged(); }));
    ISOMER_CHECK(search_all(rules));
    ISOMER_CHECK(not_discarded());
    ISOMER_CHECK(confirm_best());
    const SearchOutcome& best = outcomes_.front();
    const Evaluation& evaluation = best.evaluation;
    const Candidate& given = starts_.front().candidate;
    const SearchStart& from = report_.improved ? *best.start : starts_.front();
    const Candidate& output = report_.improved ? best.found : given;
    report_.merged = from.merged;
    ISOMER_CHECK(phase("report", [&]() -> Status {
      fill_costs(given, best.found, evaluation, report_);
      if (options_.details) fill_details(given, best.found, evaluation, best.rules.rules, report_);
      if (report_.teams && (options_.details || options_.trace != nullptr)) trace_runs(best.found, evaluation);
      ISOMER_TRY(report_.decisions, decisions_by_name(from.model, output));
      ISOMER_TRY(const nlohmann::json before, decisions_by_name(starts_.front().model, given));
      report_.decisions_dropped = dropped_decisions(before, report_.decisions);
      return {};
    }));
    ISOMER_CHECK(check_objective());
    ISOMER_CHECK(nothing_missed(evaluation));
    ISOMER_CHECK(write_certified(from, output, best.rules));
    whole.note("outcome", report_.outcome);
    report_.peak_rss_bytes = peak_rss_bytes();
    return std::move(report_);
  }

  /// Adds a measured run of what was found to the report, and to the trace with the predicted one.
  void trace_runs(const Candidate& found, const Evaluation& evaluation) {
    TeamsReport& teams = *report_.teams;
    if (auto run = measured_run(found, evaluation)) teams.measured = std::move(*run);
    if (options_.trace == nullptr) return;
    const double start = options_.trace->now();
    add_run(teams.predicted, "predicted run", start, *options_.trace);
    add_run(teams.measured, "measured run", start, *options_.trace);
  }

  /// Returns an Error if the objective is, say, `latency_us / (kernels - 1)` and the model has one kernel: any graph
  /// would be better.
  Status check_objective() const {
    const Objective& objective = options_.objective;
    const auto& cost = report_.cost_before;
    if (!cost || !objective.within_limits(*cost) || std::isfinite(objective(*cost))) return {};
    return fail("--objective {}: has no finite value for the model", objective.text());
  }

  Status not_discarded() const {
    if (options_.stop_discards && options_.stop && options_.stop()) return fail("stopped; nothing was written");
    return {};
  }

  template <class Work>
  std::invoke_result_t<Work> phase(const char* name, const Work& work) const {
    return isomer::phase(options_.trace, name, work);
  }

  Status import() {
    ISOMER_TRY(Model model, import_model(options_.input));
    declare_external_files(options_.input, model, files_);
    ISOMER_CHECK(files_.check());
    ISOMER_TRY(Decisions decisions, stored_decisions(model));
    Candidate candidate{model.graph, std::move(decisions)};
    starts_.push_back({std::move(model), std::move(candidate)});
    ISOMER_TRY(symbols_, symbol_values(starts_.front().model, options_.shapes));
    return {};
  }

  /// Adds the model with merged parameters to what searches begin with, if any can be merged.
  Status add_merged() {
    auto merged = merge_parameters(starts_.front().model);
    if (!merged) notes_.push_back("no parameters are merged: " + merged.error().message);
    if (merged && !*merged)
      notes_.emplace_back(
          "no parameters can be merged: no two with defaults and new values are read in the same way with the same "
          "data");
    if (!merged || !*merged) return {};
    MergedModel& found = **merged;
    Candidate candidate{found.model.graph, {}};
    starts_.push_back({std::move(found.model), std::move(candidate), std::move(found.merged)});
    return {};
  }

  /// Searches from all starts. The best outcome becomes the first; one with merged parameters is kept only if it is
  /// better.
  Status search_all(const RuleSet& rules) {
    ISOMER_TRY(SearchOutcome first, search(starts_.front(), rules, 1 / static_cast<double>(starts_.size())));
    outcomes_.push_back(std::move(first));
    if (starts_.size() == 1) return {};
    ISOMER_TRY(SearchOutcome merged, search(starts_.back(), rules, 1));
    ISOMER_TRY(const bool is_better, phase("compare", [&] { return better(outcomes_.front(), merged); }));
    if (is_better) outcomes_.push_front(std::move(merged));
    return {};
  }

  /// Confirms the best outcome; if that is refused and there is another, confirms that.
  Status confirm_best() {
    for (;;) {
      SearchOutcome& best = outcomes_.front();
      report_.search = std::move(best.report);
      report_.proofs = std::move(best.proofs);
      report_.verdicts = std::move(best.verdicts);
      report_.teams = std::move(best.teams);
      for (const std::string& note : notes_) report_.search.note(note);
      report_.interrupted = budget_.end.stopped();
      if (options_.costs.locked && budget_.end.passed() && !report_.interrupted)
        return fail("the time budget of {:g} s does not suffice for a locked search; raise --time-budget",
                    options_.search.max_seconds());
      ISOMER_CHECK(phase("confirm", [&] {
        return confirm(options_, starts_.front().candidate, best.found, best.evaluation, report_);
      }));
      if (report_.improved || outcomes_.size() == 1) return {};
      notes_.push_back("the result with merged parameters was dropped: " + report_.outcome);
      outcomes_.pop_front();
      report_.measured.reset();
      report_.equivalence.reset();
    }
  }

  /// Searches in this share of the time that is left.
  Result<SearchOutcome> search(const SearchStart& start, const RuleSet& rules, double share) {
    const Budget budget = share < 1 ? budget_.share(share) : budget_;
    ISOMER_TRY(Evaluation evaluation,
               phase("start the engine", [&] { return make_evaluation(options_, start.model, symbols_, budget.end); }));
    if (evaluation.costs.engine != nullptr) {
      report_.engine_version = evaluation.costs.engine->version();
      report_.provider = evaluation.costs.engine->provider();
      report_.device = evaluation.costs.engine->device();
    }
    if (evaluation.runs != nullptr && !start.merged.empty())
      evaluation.runs->from_file = [this, &start](std::span<const Tensor> outputs) {
        return replay::merge_outputs(starts_.front().model, start.merged, outputs);
      };
    ISOMER_CHECK(check_locked(evaluation, start));
    ISOMER_TRY(SearchOutcome out, search_model(options_, start, std::move(evaluation), rules, symbols_, budget));
    ISOMER_CHECK(nothing_missed(out.evaluation));
    return out;
  }

  /// Whether an outcome with merged parameters is better: by runs or, if no complete graph is timed, by costs. Notes
  /// why.
  Result<bool> better(const SearchOutcome& plain, const SearchOutcome& merged) {
    const auto because = [&](bool is_better, const std::string& reason) {
      notes_.push_back("merged parameters: " + reason);
      return is_better;
    };
    if (merged.found.hash() == merged.start->candidate.hash())
      return because(false, "the search from them found nothing");
    // The searches may have spent their time.
    constexpr double kSeconds = 60;
    for (const Evaluation* const evaluation : {&plain.evaluation, &merged.evaluation})
      evaluation->confirm_until(Deadline::after(kSeconds, options_.stop_discards ? options_.stop : nullptr));
    const bool fits = merged.evaluation.within_limits(merged.found);
    if (!fits) return because(false, "the best graph found exceeds a limit");
    if (!plain.evaluation.within_limits(plain.found)) return because(true, "only with them, the limits are kept");
    if (!times_graphs(options_) || !options_.objective.is_latency()) {
      const bool is_better = merged.evaluation.predicted_better(plain.found, merged.found);
      return because(is_better, (is_better ? "better by costs" : "no better by costs") + predictions(plain, merged));
    }
    options_.progress("measuring what merged parameters gain");
    EngineRuns& runs = *merged.evaluation.runs;
    const auto same = runs.equivalence(merged.found, 1);
    if (!same) return because(false, same.error().message);
    if (!same->holds) return because(false, "the outputs differ: " + same->problem);
    ISOMER_TRY(const auto path, plain.evaluation.runs->file(plain.found));
    const auto times = runs.time_against(path, merged.found, options_.confirm);
    if (!times) return because(false, times.error().message);
    const Interval ratio = times->ratio(options_.seed);
    return because(ratio.low > 1 && ratio.value >= options_.min_speedup,
                   fmt::format("{:.3f} times as fast as the best without, 95% [{:.3f}, {:.3f}]", ratio.value, ratio.low,
                               ratio.high));
  }

  /// " (1.78 ms with them, 2.12 ms without)"; empty if a cost is not known.
  static std::string predictions(const SearchOutcome& plain, const SearchOutcome& merged) {
    const auto without = plain.evaluation.deciding().metrics(plain.found);
    const auto with = merged.evaluation.deciding().metrics(merged.found);
    if (!without || !with) return "";
    return fmt::format(" ({:.4g} ms with them, {:.4g} ms without)", 1e-3 * with->latency_us,
                       1e-3 * without->latency_us);
  }

  /// If costs are locked: reports the engine and the processor that they belong to, and checks that the costs of the
  /// model are known.
  Status check_locked(const Evaluation& evaluation, const SearchStart& start) {
    if (!options_.costs.locked || evaluation.costs.kernels == nullptr) return {};
    const ProfileKey& key = evaluation.costs.kernels->key();
    report_.engine_version = key.version;
    report_.device = key.processor;
    const auto ignored = evaluation.costs.kernels->metrics(start.candidate);
    return nothing_missed(evaluation);
  }

  /// Returns an Error if a locked profile database lacks a kernel whose cost was needed.
  Status nothing_missed(const Evaluation& evaluation) const {
    if (evaluation.costs.profiles == nullptr) return {};
    const auto& missed = evaluation.costs.profiles->missed();
    if (missed.empty()) return {};
    return fail(
        "{}: lacks the cost of {}{}; a run with --costs-only measures the missing kernels if its --time-budget "
        "suffices",
        options_.costs.profile_db.string(), *missed.begin(),
        missed.size() == 1 ? "" : fmt::format(" and {} others", missed.size() - 1));
  }

  /// Writes the output and its certificate, if they are wanted. The output follows from a start.
  Status write_certified(const SearchStart& from, const Candidate& output, const RuleSet& rules) {
    if (options_.dry_run) return files_.unchanged();
    if (options_.certificate.empty()) return phase("write", [&] { return write(from.model, output); });
    options_.progress("replaying the steps for the certificate");
    ISOMER_TRY(replay::Certificate certificate, phase("certificate", [&] {
                 return begin_certificate(options_, starts_.front().model, from, output.graph, report_.search, rules);
               }));
    ISOMER_CHECK(phase("write", [&] { return write(from.model, output); }));
    return finish_certificate(options_, from.model, output.graph, std::move(certificate));
  }

  /// Writes the output. If it is the input, copies the bytes.
  Status write(const Model& from, const Candidate& output) {
    const bool copies = !report_.improved && !uses_external_data(from);
    std::string bytes;
    if (copies) {
      ISOMER_TRY(bytes, read_file(options_.input));
    }
    ISOMER_CHECK(files_.unchanged());
    ISOMER_CHECK(not_discarded());
    writing_ = true;
    if (!report_.improved && same_file(options_.output, options_.input)) return {};
    if (copies) return write_file(options_.output, bytes);
    if (!report_.improved) return export_model(from, options_.output);
    ISOMER_TRY(const Model model, with_candidate(from, output));
    return export_model(model, options_.output);
  }

  const OptimizeOptions& options_;
  const Budget budget_;  // of everything except the confirmation
  FileUses files_;
  bool writing_ = false;  // from now on the output may have replaced an input
  OptimizeReport report_;
  std::list<SearchStart> starts_;  // the model, and perhaps the model with merged parameters
  SymbolValues symbols_;
  std::list<SearchOutcome> outcomes_;
  std::vector<std::string> notes_;
};

}  // namespace

Result<OptimizeReport> optimize(const OptimizeOptions& options) {
  auto report = Pipeline(options).run();
  const std::string file = options.input.string();
  if (!report && report.error().message.find(file) == std::string::npos) return fail_in(file, report.error());
  return report;
}

}  // namespace isomer
