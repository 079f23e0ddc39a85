#pragma once
// Whole files.

#include <filesystem>
#include <string>
#include <string_view>

#include "isomer/base/result.h"

namespace isomer {

/// The bytes of a file; an Error names it.
Result<std::string> read_file(const std::filesystem::path& path);

/// Writes a file as OutputFile does. An Error names the file and leaves no temporary file behind.
Status write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace isomer
