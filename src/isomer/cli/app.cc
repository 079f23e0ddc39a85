#include "isomer/cli/app.h"

#include <new>

#include "isomer/base/version.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"

namespace isomer {
namespace {

/// Help and version are done; all else is a usage error.
int explain(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);
  const auto chosen = app.get_subcommands();
  fmt::print(stderr, "isomer: {}\nSee isomer {}--help.\n", error.what(),
             chosen.empty() ? "" : chosen.front()->get_name() + " ");
  return kBadInput;
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  CLI::App app("Rearranges deep-learning computation graphs until they run fastest on your device.", "isomer");
  app.set_version_flag("--version", std::string(version()));
  app.require_subcommand(1);
  app.footer(
      "isomer COMMAND --help explains a command.\nExit codes: 0 done; 1 a finding (say, outputs differ); 2 bad input "
      "or usage.");
  int exit_code = kDone;
  for (const AddCommand add : all_commands()) add(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return explain(app, error);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "isomer: out of memory\n");
    return kBadInput;
  }
  return exit_code;
}

}  // namespace isomer
