#pragma once
// Options of the table (optimize/options_table.h) on the command line.

#include <CLI/CLI.hpp>
#include <span>

#include "isomer/optimize/option.h"

namespace isomer {

/// Adds an option that sets the value where that is kept. It must outlive the command.
CLI::Option* add_option(CLI::App& command, const Option& option);
void add_each(CLI::App& command, std::span<const Option> options);

/// Lets an option that takes one text be given many times.
CLI::Option* repeatable(CLI::Option* option);

}  // namespace isomer
