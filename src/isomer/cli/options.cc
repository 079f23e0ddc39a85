// isomer options: lists the options of optimize for all interfaces.

#include <memory>

#include "isomer/base/version.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/optimize/options_page.h"

namespace isomer {

void add_options(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("options", "Show the options of optimize, with their names in C and Python");
  const auto json = std::make_shared<bool>(false);
  add_json(*command, *json);
  command->footer("Example: isomer options > options.md");
  command->callback([json, &exit_code] {
    if (*json) {
      print_json({{"schema", "isomer.options.v1"}, {"isomer", version()}, {"options", described_options()}});
    } else {
      fmt::print("{}", options_page());
    }
    exit_code = kDone;
  });
}

}  // namespace isomer
