#include "isomer/cli/optimizer_options.h"

#include "isomer/cli/validators.h"

namespace isomer {
namespace {

template <class Kind>
Optimizer with_rate(Kind optimizer, double rate) {
  if (rate > 0) optimizer.rate = rate;
  return optimizer;
}

}  // namespace

void OptimizerOptions::add_to(CLI::App& command, CLI::Option* with) {
  CLI::Option* const optimizer =
      command.add_option("--optimizer", name, "Write a training step that updates the parameters by this optimizer")
          ->check(CLI::IsMember({"sgd", "adam"}));
  if (with != nullptr) optimizer->description("Optimizer of the training step; sgd if not given")->needs(with);
  command
      .add_option("--rate", rate, "Learning rate of the training step; 0.01 for sgd and 0.001 for adam if not given")
      ->check(in_range(NumberRange{.min = 1e-12, .max = 1e6}))
      ->needs(with != nullptr ? with : optimizer);
}

Optimizer OptimizerOptions::optimizer() const {
  if (name == "adam") return with_rate(Adam{}, rate);
  return with_rate(Sgd{}, rate);
}

}  // namespace isomer
