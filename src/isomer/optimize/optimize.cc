#include "isomer/optimize/optimize.h"

#include <algorithm>
#include <chrono>

#include "isomer/base/file.h"
#include "isomer/base/hash.h"
#include "isomer/base/memory.h"
#include "isomer/ir/dot.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/optimize/certify.h"
#include "isomer/optimize/planned_costs.h"
#include "isomer/optimize/predicting_oracle.h"
#include "isomer/optimize/prove_steps.h"
#include "isomer/runtime/reference/fold.h"
#include "isomer/search/part.h"

namespace isomer {
namespace {

/// Operators of a graph that run, by name; opaque ones under their ONNX name.
std::map<std::string, int64_t> op_counts(const Graph& graph) {
  std::map<std::string, int64_t> counts;
  for (const NodeId id : run_time_nodes(graph)) ++counts[op_label(graph.node(id))];
  return counts;
}

Status check_options(const OptimizeOptions& options) {
  const auto& known = search_names();
  if (std::find(known.begin(), known.end(), options.search.search) == known.end())
    return fail("search '{}' is not known; there are {}", options.search.search, fmt::join(known, ", "));
  if (options.search.alpha < 1) return fail("alpha must be at least 1");
  if (options.dry_run && !options.certificate.empty()) return fail("a dry run has no output to certify");
  if (options.dry_run) return {};
  if (options.output.empty()) return fail("an output file is needed: -o OUT.onnx (or --dry-run)");
  const std::filesystem::path files[] = {options.input, options.output};
  if (!options.certificate.empty()) ISOMER_CHECK(may_write(options.certificate, files, false));
  if (!options.certificate.empty() && absolute(options.certificate) == absolute(options.output))
    return fail("{}: the certificate cannot stand in the output", options.output.string());
  return may_write(options.output, {&options.input, 1}, options.force);
}

/// The pipeline of one run.
class Pipeline {
 public:
  explicit Pipeline(const OptimizeOptions& options) : options_(options) {}

  Result<OptimizeReport> run() {
    ISOMER_CHECK(check_options(options_));
    report_.options = options_;
    options_.progress("importing " + options_.input.string());
    TraceScope whole(options_.trace, "optimize", "phase");
    ISOMER_CHECK(phase("import", [&]() -> Status {
      ISOMER_TRY(model_, import_model(options_.input));
      ISOMER_TRY(symbols_, symbol_values(model_, options_.shapes));
      return {};
    }));
    RuleSet rules;
    ISOMER_CHECK(phase("read rules", [&]() -> Status {
      ISOMER_TRY(rules, usable_rules(options_.rules_file, options_.skip_rules));
      return {};
    }));
    ISOMER_CHECK(phase("start the engine", [&] { return make_oracle(); }));
    Graph found;
    ISOMER_CHECK(phase("search", [&] { return search(rules, options_.search.time_budget_seconds, found); }));
    ISOMER_CHECK(phase("prove", [&] { return search_until_proved(rules, found); }));
    for (const SearchStep& step : report_.search.steps) report_.verdicts[step.rule] = rules.verdicts.at(step.rule);
    for (const auto& [name, applications] : report_.proofs.at_use)
      if (report_.verdicts.contains(name)) report_.verdicts[name] = verdict_name(Verdict::Proved);
    ISOMER_CHECK(phase("confirm", [&] { return confirm(found); }));
    ISOMER_CHECK(phase("report", [&]() -> Status {
      fill_costs(found);
      if (options_.details) fill_details(found, rules.rules);
      return {};
    }));
    replay::Certificate certificate;
    if (!options_.certificate.empty()) {
      options_.progress("replaying the steps for the certificate");
      ISOMER_CHECK(phase("certificate", [&]() -> Status {
        ISOMER_TRY(certificate, begin_certificate(options_, model_, handed_out(found), report_.search.steps, rules));
        return {};
      }));
    }
    if (!options_.dry_run) ISOMER_CHECK(phase("write", [&] { return write(found); }));
    if (!options_.certificate.empty())
      ISOMER_CHECK(finish_certificate(options_, model_, handed_out(found), certificate));
    whole.note("outcome", report_.outcome);
    report_.peak_rss_bytes = peak_rss_bytes();
    return std::move(report_);
  }

 private:
  template <class Work>
  Status phase(const char* name, const Work& work) const {
    const TraceScope scope(options_.trace, name, "phase");
    return work();
  }

  Status search(const RuleSet& rules, double seconds, Graph& found) {
    SearchOptions search = options_.search;
    search.time_budget_seconds = seconds;
    const SearchContext context{
        .rules = rules.rules,
        .tactics = rules.tactics,
        .costs = *costs_.model,
        .oracle = oracle_ == nullptr ? static_cast<Oracle&>(*measuring_) : *oracle_,
        .foresight = foresight_.get(),
        .symbols = symbols_,
        .objective = [this](const Metrics& metrics) { return options_.objective.guided(metrics); },
        .prepare = [this](const Graph& graph) { return prepare(graph); },
        .admits = [this](const Graph& graph) { return admits(graph); },
        .progress = options_.progress,
        .trace = options_.trace};
    ISOMER_TRY(SearchResult result, run_search(model_.graph, search, context));
    found = std::move(result.graph);
    report_.search = std::move(result.report);
    return {};
  }

  /// Steps by rules that have no general proof are proved where they were applied; where that fails, the search is
  /// repeated without these rules, in half of its time. The last one goes without all that have no general proof.
  Status search_until_proved(RuleSet& rules, Graph& found) {
    constexpr size_t kMostSearches = 4;
    const auto begin = std::chrono::steady_clock::now();
    ProvedSteps& proofs = report_.proofs;
    while (!options_.allow_tested) {
      ISOMER_TRY(const auto applied, prove_steps(model_.graph, found, report_.search.steps, rules));
      proofs.at_use.clear();
      const size_t failed = proofs.not_proved.size();
      for (const auto& [name, of_rule] : applied) {
        if (of_rule.proved == of_rule.applications) {
          proofs.at_use[name] = of_rule.proved;
        } else {
          proofs.not_proved[name] = of_rule.reason;
          drop_rule(rules, name);
        }
      }
      if (proofs.not_proved.size() == failed) break;
      if (++proofs.searches == kMostSearches) drop_unproved(rules);
      const double earlier = report_.search.seconds;
      options_.progress(
          fmt::format("searching again without {} rules that could not be proved", proofs.not_proved.size()));
      ISOMER_CHECK(search(rules, options_.search.time_budget_seconds / 2, found));
      proofs.seconds += earlier - report_.search.seconds;
    }
    proofs.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return {};
  }

  /// Folded, and expressible at the model's opset.
  Result<Graph> prepare(const Graph& graph) const {
    ISOMER_TRY(Graph folded, fold_constants(graph));
    ISOMER_CHECK(exportable(model_, folded));
    return folded;
  }

  /// Whether the operators that run can be expressed at the model's opset; what was asked once is remembered.
  bool admits(const Graph& graph) {
    for (const NodeId id : run_time_nodes(graph)) {
      const Node& node = graph.node(id);
      const uint64_t form = hash_mix(hash_mix(node.op->hash(), node.attrs.hash()), node.num_operands);
      const auto [known, fresh] = admitted_.try_emplace(form, false);
      if (fresh) known->second = exportable(model_, graph, id).has_value();
      if (!known->second) return false;
    }
    return true;
  }

  /// The costs that decide whether a graph is handed out: with planned memory, where that matters.
  CostModel& deciding() { return options_.objective.uses_memory() ? *planned_ : *costs_.model; }

  /// What has no cost is not known to keep a limit.
  bool within_limits(const Graph& graph) {
    if (options_.objective.limits().empty()) return true;
    const auto metrics = deciding().metrics(graph);
    return metrics && options_.objective.within_limits(*metrics);
  }
  /// Whether the costs say that a graph is better than the model.
  bool predicted_better(const Graph& graph) {
    const auto before = deciding().metrics(model_.graph);
    const auto after = deciding().metrics(graph);
    return before && after && options_.objective(*after) < options_.objective(*before);
  }

  Status make_oracle() {
    ISOMER_TRY(costs_, make_costs(options_.costs, model_.graph, symbols_, options_.progress, options_.trace));
    planned_ = std::make_unique<PlannedCosts>(*costs_.model, costs_.engine.get(), symbols_, options_.trace);
    if (costs_.engine == nullptr) {
      oracle_ = std::make_unique<PredictingOracle>(*costs_.model, options_.objective, nullptr);
      return {};
    }
    report_.engine_version = costs_.engine->version();
    report_.device = costs_.engine->device();
    ISOMER_TRY(TempDir folder, TempDir::make());
    Engine& exact = costs_.exact == nullptr ? *costs_.engine : *costs_.exact;
    measuring_ = std::make_unique<EngineOracle>(*costs_.engine, exact, model_, options_.input, options_.shapes,
                                                options_.seed, options_.tolerance, std::move(folder));
    measuring_->trace = options_.trace;
    // Where the engine's kernels are not known, no prediction rules anything out.
    if (costs_.kernels == nullptr && options_.objective.is_latency()) return {};
    Oracle* const measured = options_.objective.is_latency() ? measuring_.get() : nullptr;
    oracle_ = std::make_unique<PredictingOracle>(*costs_.model, options_.objective, measured, &deciding());
    if (measured != nullptr)
      foresight_ = std::make_unique<PredictingOracle>(*costs_.model, options_.objective, nullptr, &deciding());
    return {};
  }

  /// The outputs of a graph beside the model's; in few bits, also what these lose.
  Status compare(const Graph& graph) {
    constexpr int kInputs = 3;
    options_.progress("comparing outputs");
    ISOMER_TRY(report_.equivalence, measuring_->equivalence(graph, kInputs));
    if (costs_.exact == nullptr || !report_.equivalence->holds) return {};
    const DType dtype = options_.costs.engine_options.dtype;
    ISOMER_TRY(report_.equivalence->precision, measuring_->precision(graph, dtype, kInputs));
    return {};
  }

  /// Times the graph against the model. Where loads differ much, a few of them do not tell how much: then more are
  /// taken.
  Result<Measured> time_against_model(const Graph& graph) {
    constexpr double kWide = 0.1;
    constexpr int kMostRounds = 3;
    options_.progress("confirming the latency");
    PairedTimes times;
    Interval speedup;
    for (int round = 0; round < kMostRounds; ++round) {
      ISOMER_TRY(auto more, measuring_->time_against_model(graph, options_.confirm));
      times.add(std::move(more));
      speedup = times.ratio(options_.seed);
      if (speedup.high - speedup.low < kWide * speedup.value) break;
    }
    return Measured{median(flattened(times.first)), median(flattened(times.second)), speedup};
  }

  /// Decides whether the graph is handed out.
  Status confirm(const Graph& graph) {
    if (graph.hash() == model_.graph.hash()) {
      const int64_t candidates = report_.search.candidates;
      report_.outcome =
          candidates == 0 ? "no substitution applies" : fmt::format("none of {} candidates is better", candidates);
      // Fewer bits tell on the model itself.
      return costs_.exact == nullptr ? Status() : compare(graph);
    }
    if (!within_limits(graph)) {
      report_.outcome = "what was found exceeds a limit";
      return {};
    }
    const bool into_limits = !within_limits(model_.graph);
    if (measuring_ == nullptr) {
      report_.improved = predicted_better(graph);
      if (into_limits) {
        report_.outcome = "within the limits, which the model exceeds; not measured";
        return {};
      }
      report_.outcome = report_.improved ? "cheaper under the roofline model; not measured"
                                         : "no cheaper graph under the roofline model";
      return {};
    }
    ISOMER_CHECK(compare(graph));
    if (!report_.equivalence->holds) {
      report_.outcome = "the optimized graph was dropped: " + report_.equivalence->problem;
      return {};
    }
    ISOMER_TRY(report_.measured, time_against_model(graph));
    const Interval& speedup = report_.measured->speedup;
    if (into_limits) {  // worth having at any speed
      report_.improved = predicted_better(graph);
      report_.outcome = fmt::format("within the limits, which the model exceeds; {:.2f}x as fast", speedup.value);
      return {};
    }
    if (!options_.objective.is_latency()) {
      report_.improved = predicted_better(graph);
      report_.outcome = fmt::format("{} {}; {:.2f}x as fast", report_.improved ? "smaller" : "no smaller",
                                    options_.objective.text(), speedup.value);
      return {};
    }
    report_.improved = speedup.low > 1 && speedup.value >= options_.least_speedup;
    report_.outcome = report_.improved ? fmt::format("{:.2f}x faster", speedup.value)
                                       : fmt::format("no significant gain ({:.3f}x, 95% [{:.3f}, {:.3f}])",
                                                     speedup.value, speedup.low, speedup.high);
    return {};
  }

  /// Whether the costs are the engine's own, or the roofline's where that is what was asked for.
  bool has_costs() const { return costs_.kernels != nullptr || costs_.engine == nullptr; }

  /// What the output holds.
  const Graph& handed_out(const Graph& found) const { return report_.improved ? found : model_.graph; }

  void fill_details(const Graph& graph, std::span<const Rule> rules) {
    ReportDetails details{model_.graph, graph};
    if (has_costs()) {
      details.kernels_before = costs_.model->kernels(details.before).value_or(std::vector<PlannedKernel>());
      details.kernels_after = costs_.model->kernels(details.after).value_or(std::vector<PlannedKernel>());
      if (auto metrics = planned_->metrics(details.after)) details.cost_after = *metrics;
    }
    if (auto memory = planned_->memory(details.after)) details.memory_after = *memory;
    for (const Rule& rule : rules)
      if (report_.verdicts.contains(rule.name)) details.rules.emplace(rule.name, rule);
    report_.details = std::move(details);
  }

  void fill_costs(const Graph& graph) {
    const Graph& after = report_.improved ? graph : model_.graph;
    if (has_costs()) {
      if (auto metrics = planned_->metrics(model_.graph)) report_.cost_before = *metrics;
      if (auto metrics = planned_->metrics(after)) report_.cost_after = *metrics;
    }
    if (auto memory = planned_->memory(model_.graph)) report_.memory_before = *memory;
    if (auto memory = planned_->memory(after)) report_.memory_after = *memory;
    if (costs_.kernels != nullptr) report_.kernels_measured = costs_.kernels->measured();
    report_.ops_before = op_counts(model_.graph);
    report_.ops_after = op_counts(after);
    if (!report_.improved) report_.outcome += "; the output is the input";
    if (!options_.objective.limits().empty() && report_.cost_after)
      report_.within_limits = options_.objective.within_limits(*report_.cost_after);
    if (report_.within_limits == false)
      report_.outcome += fmt::format(", which exceeds a limit ({})", fmt::join(options_.objective.limits(), ", "));
  }

  Status write(const Graph& graph) const {
    if (report_.improved) return export_model(model_.with(graph), options_.output);
    if (options_.output == options_.input) return {};
    if (uses_external_data(model_)) return export_model(model_, options_.output);
    ISOMER_TRY(const std::string bytes, read_file(options_.input));
    return write_file(options_.output, bytes);
  }

  const OptimizeOptions& options_;
  OptimizeReport report_;
  Model model_;
  SymbolValues symbols_;
  Costs costs_;
  std::unique_ptr<PlannedCosts> planned_;
  std::unique_ptr<EngineOracle> measuring_;  // nothing without an engine
  std::unique_ptr<Oracle> oracle_;
  std::unique_ptr<Oracle> foresight_;  // nothing where oracle_ measures nothing
  std::map<uint64_t, bool> admitted_;
};

}  // namespace

Result<OptimizeReport> optimize(const OptimizeOptions& options) {
  auto report = Pipeline(options).run();
  const std::string file = options.input.string();
  if (!report && report.error().message.find(file) == std::string::npos) return fail_in(file, report.error());
  return report;
}

}  // namespace isomer
