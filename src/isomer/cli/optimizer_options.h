#pragma once
// The optimizer of a training step, as commands name it.

#include <CLI/CLI.hpp>
#include <string>

#include "isomer/grad/training_step.h"

namespace isomer {

struct OptimizerOptions {
  std::string name;
  double rate = 0;  ///< 0: the optimizer's default

  /// Adds --optimizer, which may not be given without the option `with` unless that is nullptr, and --rate. They must
  /// outlive the command.
  void add_to(CLI::App& command, CLI::Option* with);
  Optimizer optimizer() const;
};

}  // namespace isomer
