#pragma once
// Files that are read while a model is in use: models and their external data.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "isomer/base/result.h"

namespace isomer {

/// From now on this process maps its input files into memory instead of reading them. When one of them is truncated, or
/// cannot be read, while it is in use, the process ends with exit code 2 and a message that names the file. That needs
/// the process's handler of SIGBUS: programs of ours call this, the libraries never do.
void map_input_files();

/// Bytes of a file, with what keeps them in memory.
struct FileBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

class InputFile : public std::enable_shared_from_this<InputFile> {
 public:
  struct Options {
    /// Refuses a file that has other names (hard links): which folder they lie in cannot be told.
    bool single_link = false;
  };

  /// Opens a regular file; the last component of `path` may be a symbolic link unless single_link is set. Fails with
  /// the reason, without the path.
  static Result<std::shared_ptr<const InputFile>> open(const std::filesystem::path& path, Options options);

  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// How many bytes the file had when it was opened.
  uint64_t size() const { return size_; }
  /// Whether bytes() copies them.
  bool copies() const { return mapped_.empty(); }
  /// The `count` bytes from `offset` on, which must lie within size(). Fails, without the path, where the file has
  /// become shorter or cannot be read.
  Result<FileBytes> bytes(uint64_t offset, size_t count) const;

 private:
  InputFile(int descriptor, uint64_t size) : descriptor_(descriptor), size_(size) {}
  Status map(const std::filesystem::path& path);

  int descriptor_;
  uint64_t size_;
  std::span<const std::byte> mapped_;
};

}  // namespace isomer
