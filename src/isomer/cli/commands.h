#pragma once
// The commands of the program. A command is a file that defines add_NAME, with a line here and in commands.cc.

#include <CLI/CLI.hpp>
#include <vector>

namespace isomer {

/// Declares a command: its options, and a callback that runs it and sets `exit_code`.
using AddCommand = void (*)(CLI::App& app, int& exit_code);

/// All commands, in the order of --help.
const std::vector<AddCommand>& all_commands();

void add_optimize(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_inspect(CLI::App& app, int& exit_code);
void add_diff(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_models(CLI::App& app, int& exit_code);
void add_grad(CLI::App& app, int& exit_code);
void add_rules(CLI::App& app, int& exit_code);
void add_verify(CLI::App& app, int& exit_code);
void add_profile(CLI::App& app, int& exit_code);
void add_options(CLI::App& app, int& exit_code);
void add_repro(CLI::App& app, int& exit_code);

// Parts of `rules`.
void add_rules_generate(CLI::App& rules, int& exit_code);
void add_rules_axioms(CLI::App& rules, int& exit_code);
void add_rules_derive(CLI::App& rules, int& exit_code);

}  // namespace isomer
