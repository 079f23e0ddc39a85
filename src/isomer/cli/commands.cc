#include "isomer/cli/commands.h"

namespace isomer {

const std::vector<AddCommand>& all_commands() {
  static const std::vector<AddCommand> kCommands = {add_optimize, add_run,     add_bench,   add_compare, add_inspect,
                                                    add_diff,     add_explain, add_models,  add_grad,    add_rules,
                                                    add_verify,   add_profile, add_options, add_repro};
  return kCommands;
}

}  // namespace isomer
