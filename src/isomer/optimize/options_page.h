#pragma once
// The options of `optimize` for readers: a page of the documentation, and a table for programs.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace isomer {

/// For each option, in the order of --help: its names, type, values, default and help.
nlohmann::json described_options();
/// docs/reference/options.md
std::string options_page();

}  // namespace isomer
