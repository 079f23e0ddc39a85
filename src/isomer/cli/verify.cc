// isomer verify: checks a certificate.

#include <algorithm>
#include <limits>
#include <memory>

#include "isomer/base/file.h"
#include "isomer/base/printable.h"
#include "isomer/base/progress.h"
#include "isomer/base/version.h"
#include "isomer/certificate/merge_inputs.h"
#include "isomer/certificate/verify_files.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/eval/compare.h"
#include "isomer/onnx/content.h"
#include "isomer/optimize/application_prover.h"
#include "isomer/report/report.h"

namespace isomer {
namespace {

using nlohmann::json;

struct VerifyOptions {
  CommandFiles files;
  std::string certificate, input, output;
  std::string lock;
  int inputs = 1;
  EngineChoice engine{.name = "", .options = {}};
  InputChoice random;
  bool json = false;
};

/// The differences between the outputs of the two models over all random inputs.
struct Difference {
  int inputs = 0;
  std::string engine = {};
  double max_abs = 0;
  double max_rel = 0;
  bool comparable = true;
  std::vector<std::string> obstacles = {};  ///< why the outputs could not be compared
};

/// Returns whether shapes are given that replace those of the search.
bool asks_for_shapes(const VerifyOptions& options) { return !shape_texts(options.random.shapes).empty(); }

Result<Difference> measure_on(const EngineChoice& choice, const VerifyOptions& options,
                              const replay::Verification& found) {
  Difference out{.engine = choice.name};
  ShapeOptions shapes = options.random.shapes;
  if (!asks_for_shapes(options)) {
    for (const std::string& text : found.certificate.shapes)
      ISOMER_CHECK(in_context(options.certificate, add_shape_option(text, shapes)));
  }
  ISOMER_TRY(const auto engine, choice.make());
  ISOMER_TRY(const SessionId before, engine->load(options.input));
  ISOMER_TRY(const SessionId after, engine->load(options.output));
  const Tolerance any{.rtol = 0, .atol = std::numeric_limits<double>::infinity()};
  for (; out.inputs < options.inputs; ++out.inputs) {
    const uint64_t seed = options.random.seed + static_cast<uint64_t>(out.inputs);
    ISOMER_TRY(const auto inputs, in_context(options.input, random_inputs(found.input, shapes, seed)));
    ISOMER_TRY(const auto outputs, in_context(options.input, engine->run(before, inputs)));
    ISOMER_TRY(const auto expected, replay::merge_outputs(found.input, found.certificate.merged, outputs));
    ISOMER_TRY(const auto got, in_context(options.output, engine->run(after, inputs)));
    ISOMER_TRY(const Comparison comparison, compare_outputs(got, expected, any));
    out.max_abs = std::max(out.max_abs, comparison.max_abs());
    out.max_rel = std::max(out.max_rel, comparison.max_rel());
    out.comparable = out.comparable && comparison.equal();
  }
  return out;
}

/// Compares the outputs on the engine that was chosen, else on the first one that can run both models; the reference
/// executor lacks some operators. An Error if the choice cannot be followed.
Result<Difference> measure(const VerifyOptions& options, const replay::Verification& found) {
  const bool asked = !options.engine.name.empty();
  const std::vector<std::string> engines =
      asked ? std::vector{options.engine.name} : std::vector<std::string>{"reference", "ort"};
  Difference none;
  for (const std::string& name : engines) {
    EngineChoice choice = options.engine;
    choice.name = name;
    auto difference = measure_on(choice, options, found);
    if (difference) return difference;
    none.obstacles.push_back(fmt::format("{}: {}", name, difference.error().message));
  }
  if (!asked && !asks_for_shapes(options)) return none;
  return fail("the steps hold, but the outputs cannot be compared: {}", fmt::join(none.obstacles, "; "));
}

using Proofs = std::map<std::string, AppliedProofs>;  // by the name of the rule

/// Returns the decisions of the output in the form of its metadata; null if the format does not record them.
json decisions_json(const replay::Certificate& certificate) {
  if (!certificate.records_decisions()) return nullptr;
  json out = json::object();
  for_each_kind(
      [&](const auto& kind, const auto& decided) {
        for (const auto& [name, choice] : decided) out[kind.plural][name] = kind.word(choice);
      },
      certificate.decisions);
  return out;
}

void print_decisions(const replay::NamedDecisions& decisions) {
  if (decisions.empty()) return;
  fmt::print("decisions  {} in the output's file; they change only how it is executed\n", decisions.size());
  for_each_kind(
      [&](const auto& kind, const auto& decided) {
        for (const auto& [name, choice] : decided)
          fmt::print("           {}: {} {}\n", printable(name), kind.name, kind.word(choice));
      },
      decisions);
}

json report_of(const VerifyOptions& options, const replay::Verification& found, const Proofs& proofs,
               const Difference& difference) {
  json rules = json::array();
  for (const auto& rule : found.certificate.rules) {
    rules.push_back(
        {{"rule", rule.name}, {"hash", fmt::format("{:016x}", rule.hash)}, {"verdict", verdict_name(rule.verdict)}});
    const auto at_use = proofs.find(rule.name);
    if (at_use == proofs.end()) continue;
    rules.back()["applications"] = at_use->second.applications;
    rules.back()["proved_at_use"] = at_use->second.proved;
  }
  json report = {{"schema", "isomer.verify.v1"},
                 {"isomer", version()},
                 {"certificate", options.certificate},
                 {"models", {options.input, options.output}},
                 {"made_by", found.certificate.isomer},
                 {"holds", found.holds()},
                 {"problem", found.problem},
                 {"steps", found.tally.moves},
                 {"applications", found.tally.applications},
                 {"parts", found.tally.parts},
                 {"folded", found.tally.constants},
                 {"rules", std::move(rules)},
                 {"beside", replay::beside_rules(found.certificate)},
                 {"merged", merged_json(found.certificate.merged)},
                 {"decisions", decisions_json(found.certificate)},
                 {"difference", nullptr},
                 {"not_compared", difference.obstacles}};
  if (difference.inputs > 0)
    report["difference"] = {{"engine", difference.engine},
                            {"inputs", difference.inputs},
                            {"max_abs", difference.max_abs},
                            {"max_rel", difference.max_rel},
                            {"comparable", difference.comparable}};
  return report;
}

void print_report(const replay::Verification& found, const Proofs& proofs, const Difference& difference) {
  if (!found.holds()) {
    fmt::print("DOES NOT HOLD: {}\n", printable_lines(found.problem));
    return;
  }
  fmt::print("holds: {} steps, {} applications of {} rules, {} folded constants\n", found.tally.moves,
             found.tally.applications, found.certificate.rules.size(), found.tally.constants);
  for (const std::string& sentence : replay::beside_rules(found.certificate)) fmt::print("  {}\n", printable(sentence));
  const auto proved = [](const replay::CertifiedRule& rule) { return rule.verdict == Verdict::Proved; };
  fmt::print("rules      {} proved in general, {} tested\n", std::ranges::count_if(found.certificate.rules, proved),
             std::ranges::count_if(found.certificate.rules, std::not_fn(proved)));
  size_t applications = 0;
  size_t held = 0;
  for (const auto& [name, at_use] : proofs) {
    applications += at_use.applications;
    held += at_use.proved;
  }
  fmt::print("proofs     {} of {} applications proved as they stand\n", held, applications);
  for (const auto& [name, at_use] : proofs)
    if (at_use.proved < at_use.applications)
      fmt::print("           {}: {} of {}; {}\n", name, at_use.proved, at_use.applications, printable(at_use.reason));
  for (const MergedInput& one : found.certificate.merged) {
    std::string parts;
    for (const std::string& part : one.parts) parts += (parts.empty() ? "" : ", ") + printable(part);
    fmt::print("merged     {}: {} along axis {}\n", printable(one.input), parts, one.axis);
  }
  print_decisions(found.certificate.decisions);
  if (!difference.obstacles.empty()) fmt::print("outputs    not compared\n");
  for (const std::string& obstacle : difference.obstacles) fmt::print("           {}\n", printable(obstacle));
  if (difference.inputs == 0) return;
  fmt::print("outputs    {} on {} random input{} ({})\n",
             !difference.comparable      ? "not all finite, or integers that differ,"
             : difference.max_abs == 0.0 ? "equal to the last bit"
                                         : fmt::format("within {:.1e} of their largest elements (absolute {:.1e})",
                                                       difference.max_rel, difference.max_abs),
             difference.inputs, difference.inputs == 1 ? "" : "s", difference.engine);
}

Result<int> verify(const VerifyOptions& options, FileUses& uses) {
  ISOMER_TRY(Lock lock, builtin_lock());
  if (!options.lock.empty()) {
    ISOMER_TRY(const std::string text, read_file(options.lock));
    ISOMER_TRY(Lock own, in_context(options.lock, parse_lock(text)));
    for (LockEntry& entry : own.entries) lock.entries.push_back(std::move(entry));
  }
  ApplicationProver prover;
  const auto replayed = [&] {
    const Progress progress("replaying and proving the steps of " + options.certificate);
    return replay::verify_certificate(options.certificate, options.input, options.output, lock, prover.watch());
  }();
  if (!replayed) return tl::unexpected<Error>(replayed.error());
  const replay::Verification& found = *replayed;
  if (found.holds()) {
    declare_external_files(options.input, found.input, uses);
    declare_external_files(options.output, found.output, uses);
    ISOMER_CHECK(uses.check());
  }
  Difference difference;
  if (found.holds() && options.inputs > 0) {
    const Progress progress("running both models");
    ISOMER_TRY(difference, measure(options, found));
  }
  ISOMER_CHECK(uses.unchanged());
  if (options.json)
    print_json(report_of(options, found, prover.proofs(), difference));
  else
    print_report(found, prover.proofs(), difference);
  return found.holds() ? kDone : kFinding;
}

}  // namespace

void add_verify(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("verify", "Check a certificate that `optimize --certificate` wrote");
  const auto options = std::make_shared<VerifyOptions>();
  options->files
      .reads(*command, "certificate", options->certificate,
             "Certificate file, written by `isomer optimize --certificate`")
      ->required();
  options->files.reads(*command, "input", options->input, "ONNX file that was optimized")->required();
  options->files.reads(*command, "output", options->output, "ONNX file that `optimize` wrote")->required();
  options->files.reads(*command, "--lock", options->lock,
                       "Lock file with verdicts of your own rules, written by `isomer rules verify --write`");
  command->add_option("--inputs", options->inputs, "Number of sets of random inputs on which both models run; 0: none")
      ->check(in_range(IntegerRange{.min = 0, .max = 1000000}))
      ->capture_default_str();
  options->engine.add_to(*command, options->files);
  command->get_option("--engine")
      ->description(
          "The engine that runs both models; by default the reference executor, or ort if that lacks an operator");
  options->random.add_to(*command);
  add_json(*command, options->json);
  command->footer(
      "Example: isomer verify model.cert model.onnx faster.onnx\n"
      "Exit code 1: the certificate does not hold; 2: it is corrupt, or a file cannot be read. If no engine can "
      "compare\n"
      "the outputs, the exit code does not change, unless --engine or --shape asks for the comparison.");
  command->callback([options, &exit_code] {
    exit_code = finish(options->files, [&](FileUses& uses) { return verify(*options, uses); });
  });
}

}  // namespace isomer
