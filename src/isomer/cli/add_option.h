#pragma once
// Adds options of the table (optimize/options_table.h) to a command.

#include <CLI/CLI.hpp>
#include <span>

#include "isomer/optimize/option.h"

namespace isomer {

/// Adds an option that sets its variable. The variable must outlive the command.
CLI::Option* add_option(CLI::App& command, const Option& option);
void add_each(CLI::App& command, std::span<const Option> options);

/// Allows an option that takes one text to be repeated.
CLI::Option* repeatable(CLI::Option* option);

}  // namespace isomer
