#pragma once
// Presents the options of `optimize`: as a page of the documentation, and as a table for programs.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace isomer {

/// Returns for each option, in the order of --help, its names, type, values, default and help.
nlohmann::json described_options();
/// Returns the text of docs/reference/options.md.
std::string options_page();

}  // namespace isomer
