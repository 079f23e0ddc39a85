#pragma once
// Digests of whole files, which identify a file byte for byte.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "isomer/base/result.h"

namespace isomer {

struct FileDigest {
  uint64_t bytes = 0;
  std::string digest = {};  ///< "xxh128:" and 32 hex digits, as `xxhsum -H128` prints them

  friend bool operator==(const FileDigest&, const FileDigest&) = default;
};

/// The digest as "xxh128:" and 32 hex digits. XXH3 with 128 bits detects accidents and edits; it is not cryptographic.
std::string text_digest(std::string_view text);

/// The digest of a file's bytes, read in pieces. An Error names the file.
Result<FileDigest> file_digest(const std::filesystem::path& path);

}  // namespace isomer
