#pragma once
// A file mapped into memory for reading.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "isomer/base/result.h"

namespace isomer {

class MappedFile {
 public:
  struct Options {
    /// Refuses a file that has other names (hard links): which folder they lie in cannot be told.
    bool single_link = false;
  };

  /// Maps a regular file; the last component of `path` may be a symbolic link unless single_link is set. Fails with the
  /// reason, without the path.
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path, Options options);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace isomer
