#pragma once
// Digests of whole files: what tells that a file is, byte for byte, the one that was meant.

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

/// "xxh128:" and 32 hex digits (XXH3, 128 bits: finds accidents and edits, is no cryptographic signature).
std::string text_digest(std::string_view text);

/// The digest of a file's bytes, read in pieces. An Error names the file.
Result<FileDigest> file_digest(const std::filesystem::path& path);

}  // namespace isomer
