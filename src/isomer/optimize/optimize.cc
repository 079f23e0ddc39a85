#include "isomer/optimize/optimize.h"

#include <cmath>
#include <type_traits>

#include "isomer/base/file.h"
#include "isomer/base/memory.h"
#include "isomer/cost/profile_db.h"
#include "isomer/onnx/content.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/optimize/certify.h"
#include "isomer/optimize/confirm.h"
#include "isomer/optimize/fill_report.h"
#include "isomer/optimize/options_table.h"
#include "isomer/optimize/proof_at_use.h"
#include "isomer/plan/stored_decisions.h"
#include "isomer/search/recompute.h"
#include "isomer/search/searches.h"

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
    report_ = begin_report(options_);
    options_.progress("importing " + options_.input.string());
    TraceScope whole(options_.trace, "optimize", "phase");
    ISOMER_CHECK(phase("import", [&] { return import(); }));
    ISOMER_TRY(RuleSet rules,
               phase("read rules", [&] { return usable_rules(options_.rules_file, options_.skip_rules); }));
    ISOMER_TRY(const Evaluation evaluation,
               phase("start the engine", [&] { return make_evaluation(options_, model_, symbols_, budget_.end); }));
    if (evaluation.costs.engine != nullptr) {
      report_.engine_version = evaluation.costs.engine->version();
      report_.provider = evaluation.costs.engine->provider();
      report_.device = evaluation.costs.engine->device();
    }
    ISOMER_CHECK(check_locked(evaluation));
    ISOMER_TRY(Candidate found, search(evaluation, rules));
    if (may_recompute(evaluation)) phase("recompute", [&] { found = with_less_memory(std::move(found), evaluation); });
    ISOMER_CHECK(nothing_missed(evaluation));
    report_.interrupted = budget_.end.stopped();
    if (options_.costs.locked && budget_.end.passed() && !report_.interrupted)
      return fail("the time budget of {:g} s does not suffice for a locked search; raise --time-budget",
                  options_.search.time_budget_seconds);
    ISOMER_CHECK(phase("confirm", [&] { return confirm(options_, given_, found, evaluation, report_); }));
    const Candidate& output = report_.improved ? found : given_;
    ISOMER_CHECK(phase("report", [&]() -> Status {
      fill_costs(given_, found, evaluation, report_);
      if (options_.details) fill_details(given_, found, evaluation, rules.rules, report_);
      ISOMER_TRY(report_.decisions, decisions_by_name(model_, output));
      ISOMER_TRY(const nlohmann::json given, decisions_by_name(model_, given_));
      report_.decisions_dropped = dropped_decisions(given, report_.decisions);
      return {};
    }));
    ISOMER_CHECK(check_objective());
    ISOMER_CHECK(nothing_missed(evaluation));
    ISOMER_CHECK(write_certified(output, rules));
    whole.note("outcome", report_.outcome);
    report_.peak_rss_bytes = peak_rss_bytes();
    return std::move(report_);
  }

  /// Returns an Error if the objective is, say, `latency_us / (kernels - 1)` and the model has one kernel: any graph
  /// would be better.
  Status check_objective() const {
    const Objective& objective = options_.objective;
    const auto& cost = report_.cost_before;
    if (!cost || !objective.within_limits(*cost) || std::isfinite(objective(*cost))) return {};
    return fail("--objective {}: has no finite value for the model", objective.text());
  }

  template <class Work>
  std::invoke_result_t<Work> phase(const char* name, const Work& work) const {
    const TraceScope scope(options_.trace, name, "phase");
    return work();
  }

  Status import() {
    ISOMER_TRY(model_, import_model(options_.input));
    declare_external_files(options_.input, model_, files_);
    ISOMER_CHECK(files_.check());
    ISOMER_TRY(Decisions decisions, stored_decisions(model_));
    given_ = {model_.graph, std::move(decisions)};
    ISOMER_TRY(symbols_, symbol_values(model_, options_.shapes));
    return {};
  }

  /// Returns a candidate all of whose steps are proved. `rules` loses those that could not be proved.
  Result<Candidate> search(const Evaluation& evaluation, RuleSet& rules) {
    const Budget whole = may_recompute(evaluation) ? budget_.share(kSearchShare) : budget_;
    const auto run = [&](const RuleSet& usable, const Budget& budget) -> Result<SearchResult> {
      evaluation.set_deadline(budget.end);
      const SearchContext context{.rules = usable.rules,
                                  .tactics = usable.tactics,
                                  .evaluator = *evaluation.evaluator,
                                  .symbols = symbols_,
                                  .budget = budget,
                                  .cores = static_cast<size_t>(options_.costs.engine_options.streams),
                                  .observer = {options_.progress, options_.trace}};
      ISOMER_TRY(SearchResult found, run_search(given_, options_.search, context));
      evaluation.preparation->report(found.report);
      return found;
    };
    ISOMER_TRY(SearchResult found,
               phase("search", [&] { return run(rules, first_search_budget(options_, rules, whole)); }));
    const auto folded = [&](uint64_t value_hash) { return evaluation.preparation->folded(value_hash); };
    ISOMER_TRY(report_.proofs, phase("prove", [&] {
                 return search_until_proved(options_, model_.graph, whole, run, folded, rules, found);
               }));
    report_.search = std::move(found.report);
    for (const SearchStep& step : report_.search.steps) report_.verdicts[step.rule] = rules.verdicts.at(step.rule);
    for (const auto& [name, applications] : report_.proofs.at_use)
      if (report_.verdicts.contains(name)) report_.verdicts[name] = verdict_name(Verdict::Proved);
    return Candidate(std::move(found));
  }

  /// Of the time, what searches get if values may be computed twice afterwards.
  static constexpr double kSearchShare = 0.75;

  static bool may_recompute(const Evaluation& evaluation) {
    return evaluation.evaluator->weighs_memory() && evaluation.costs.model->recomputes();
  }

  /// Returns a candidate that computes values twice if the objective or a limit demands it.
  Candidate with_less_memory(Candidate found, const Evaluation& evaluation) const {
    evaluation.set_deadline(budget_.end);
    const auto objective = [&](const Candidate& candidate, const Metrics& predicted) {
      const double value = options_.objective.penalized(predicted);
      if (value >= kBeyondLimits) return value;
      const auto planned = evaluation.deciding().metrics(candidate);
      return planned ? options_.objective.penalized(*planned) : std::numeric_limits<double>::infinity();
    };
    auto better = recompute(found, *evaluation.costs.model, budget_.end, objective);
    return better ? std::move(*better) : std::move(found);
  }

  /// If costs are locked: reports the engine and the processor that they belong to, and checks that the costs of the
  /// model are known.
  Status check_locked(const Evaluation& evaluation) {
    if (!options_.costs.locked || evaluation.costs.kernels == nullptr) return {};
    const ProfileKey& key = evaluation.costs.kernels->key();
    report_.engine_version = key.version;
    report_.device = key.processor;
    const auto ignored = evaluation.costs.kernels->metrics(given_);
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

  /// Writes the output and its certificate, if they are wanted.
  Status write_certified(const Candidate& output, const RuleSet& rules) {
    if (options_.dry_run) return files_.unchanged();
    if (options_.certificate.empty()) return phase("write", [&] { return write(output); });
    options_.progress("replaying the steps for the certificate");
    ISOMER_TRY(replay::Certificate certificate, phase("certificate", [&] {
                 return begin_certificate(options_, model_, output.graph, report_.search, rules);
               }));
    ISOMER_CHECK(phase("write", [&] { return write(output); }));
    return finish_certificate(options_, model_, output.graph, std::move(certificate));
  }

  /// Writes the output. If it is the input, copies the bytes.
  Status write(const Candidate& output) {
    const bool copies = !report_.improved && !uses_external_data(model_);
    std::string bytes;
    if (copies) {
      ISOMER_TRY(bytes, read_file(options_.input));
    }
    ISOMER_CHECK(files_.unchanged());
    writing_ = true;
    if (!report_.improved && same_file(options_.output, options_.input)) return {};
    if (copies) return write_file(options_.output, bytes);
    if (!report_.improved) return export_model(model_, options_.output);
    ISOMER_TRY(const Model model, with_candidate(model_, output));
    return export_model(model, options_.output);
  }

  const OptimizeOptions& options_;
  const Budget budget_;  // of everything except the confirmation
  FileUses files_;
  bool writing_ = false;  // from now on the output may have replaced an input
  OptimizeReport report_;
  Model model_;
  Candidate given_;  // the graph of the model, with the decisions that its file has
  SymbolValues symbols_;
};

}  // namespace

Result<OptimizeReport> optimize(const OptimizeOptions& options) {
  auto report = Pipeline(options).run();
  const std::string file = options.input.string();
  if (!report && report.error().message.find(file) == std::string::npos) return fail_in(file, report.error());
  return report;
}

}  // namespace isomer
