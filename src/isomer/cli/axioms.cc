// isomer rules axioms: shows what proofs know about operators.

#include "isomer/base/parallel.h"
#include "isomer/base/progress.h"
#include "isomer/base/table.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/ops/registry.h"
#include "isomer/proof/axiom_check.h"

namespace isomer {
namespace {

struct AxiomsOptions {
  std::string op;
  bool check = false;
  size_t instances = AxiomBounds().max_instances;
  int threads = 2;
  bool json = false;
};

Result<std::vector<const OpDef*>> chosen_ops(const AxiomsOptions& options) {
  std::vector<const OpDef*> out;
  for (const OpDef* op : all_ops())
    if (op->axiom != nullptr && (options.op.empty() || op->name == options.op)) out.push_back(op);
  if (out.empty()) return fail("no operator '{}' has an axiom", options.op);
  return out;
}

Result<int> print_axioms(const std::vector<const OpDef*>& ops, bool json) {
  nlohmann::json report = nlohmann::json::object();
  for (const OpDef* op : ops) {
    const std::string text = axiom_text(*op);
    report[op->name] = text;
    if (!json) fmt::print("{}", text);
  }
  if (json) print_json(report);
  return kDone;
}

Result<int> check_axioms(const std::vector<const OpDef*>& ops, const AxiomsOptions& options) {
  std::vector<AxiomVerdict> verdicts(ops.size());
  {
    const Progress progress(fmt::format("checking {} axioms", ops.size()));
    const AxiomBounds bounds{.max_instances = options.instances};
    parallel_for(ops.size(), options.threads, 1, [&](size_t i, size_t) { verdicts[i] = check_axiom(*ops[i], bounds); });
  }
  Table table({"<axiom", "<verdict", ">structures", ">cases", ">instances", ">elements"});
  nlohmann::json report = nlohmann::json::array();
  std::string findings;
  bool refuted = false;
  for (size_t i = 0; i < ops.size(); ++i) {
    const AxiomVerdict& v = verdicts[i];
    const std::string verdict = v.refuted ? "refuted" : "holds";
    table.row({ops[i]->name, verdict, std::to_string(v.structures), std::to_string(v.cases),
               std::to_string(v.instances), std::to_string(v.elements)});
    report.push_back({{"op", ops[i]->name},
                      {"verdict", verdict},
                      {"structures", v.structures},
                      {"cases", v.cases},
                      {"instances", v.instances},
                      {"elements", v.elements},
                      {"given_up", v.given_up},
                      {"bounds", v.bounds},
                      {"counterexample", v.counterexample}});
    refuted = refuted || v.refuted;
    if (v.refuted) findings += fmt::format("\nThe axiom of {} is false:\n{}", ops[i]->name, v.counterexample);
    if (v.given_up > 0)
      findings += fmt::format("\n{}: {} structures given up: {}\n", ops[i]->name, v.given_up, v.why_given_up);
  }
  if (options.json)
    print_json({{"axioms", report}});
  else
    fmt::print("{}{}", table.str(), findings);
  return refuted ? kFinding : kDone;
}

Result<int> run(const AxiomsOptions& options) {
  ISOMER_TRY(const auto ops, chosen_ops(options));
  return options.check ? check_axioms(ops, options) : print_axioms(ops, options.json);
}

}  // namespace

void add_rules_axioms(CLI::App& rules, int& exit_code) {
  CLI::App* command =
      rules.add_subcommand("axioms", "Show or check the axioms: the formulas that define operators in proofs");
  const auto options = std::make_shared<AxiomsOptions>();
  command->add_option("op", options->op, "Name of an operator; without a name, all are shown");
  command->add_flag("--check", options->check,
                    "Compare the formulas with the reference kernels, exactly, on small shapes");
  command
      ->add_option("--instances", options->instances,
                   "Maximum number of instances for each rank and number of operands")
      ->check(in_range(IntegerRange{.min = 1}))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Number of threads")
      ->check(in_range(IntegerRange{.min = 1, .max = 256}))
      ->capture_default_str();
  add_json(*command, options->json);
  command->footer(
      "Example: isomer rules axioms MatMul --check\nExit code 1: an axiom is refuted; its counterexample is printed.");
  command->callback([options, &exit_code] { exit_code = finish(run(*options)); });
}

}  // namespace isomer
