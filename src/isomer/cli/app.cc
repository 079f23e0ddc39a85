#include "isomer/cli/app.h"

#include <new>
#include <system_error>

#include "isomer/base/printable.h"
#include "isomer/base/version.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"

namespace isomer {
namespace {

/// Returns the error of a command line that names no command or an unknown command of `app`; otherwise nothing.
std::string wrong_command(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (names.empty()) return "";
  const std::vector<std::string> rest = app.remaining();
  if (!rest.empty() && rest.front().starts_with('-')) return fmt::format("no option '{}'", rest.front());
  return fmt::format("{}; there are: {}", rest.empty() ? "a command is needed" : "no command '" + rest.front() + "'",
                     fmt::join(names, ", "));
}

/// Help and version are successes; everything else is a usage error.
int explain(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);
  const CLI::App* chosen = &app;
  std::string words;
  for (auto next = app.get_subcommands(); !next.empty(); next = chosen->get_subcommands()) {
    chosen = next.front();
    words += chosen->get_name() + " ";
  }
  const std::string wrong = wrong_command(*chosen);
  fmt::print(stderr, "isomer: {}\nSee isomer {}--help.\n", printable_lines(wrong.empty() ? error.what() : wrong),
             words);
  return kBadInput;
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  CLI::App app("Finds equivalent ONNX models that run faster on your machine.", "isomer");
  app.set_version_flag("--version", std::string(version()));
  app.require_subcommand(1);
  app.footer(
      "isomer COMMAND --help explains a command.\nExit codes: 0 done; 1 a finding (for example, outputs differ); 2 bad "
      "input "
      "or usage, or\nthe machine failed (for example, the disk is full).");
  int exit_code = kDone;
  for (const AddCommand add : all_commands()) add(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return explain(app, error);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "isomer: out of memory\n");
    return kBadInput;
  } catch (const std::system_error& error) {  // thrown by fmt::print if standard output cannot be written
    fmt::print(stderr, "isomer: {}\n", error.what());
    return kBadInput;
  }
  return exit_code;
}

}  // namespace isomer
