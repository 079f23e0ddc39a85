#pragma once
// Reading and writing whole files.

#include <filesystem>
#include <string>
#include <string_view>

#include "isomer/base/result.h"

namespace isomer {

/// The bytes of a file. An Error names the file.
Result<std::string> read_file(const std::filesystem::path& path);

/// Writes a file in the same way as OutputFile. An Error names the file and leaves no temporary file behind.
Status write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace isomer
