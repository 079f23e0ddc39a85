#pragma once
// Files that are read while a model is in use: models and their external data.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "isomer/base/result.h"

namespace isomer {

/// From now on, this process maps external data into memory instead of reading it. If a mapped file is truncated or
/// becomes unreadable while it is in use, the process exits with code 2 and a message that names the file. This
/// requires the process's SIGBUS handler, so only Isomer's programs call it, never its libraries.
void map_input_files();

/// Bytes of a file, with the owner of their memory.
struct FileBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

class InputFile : public std::enable_shared_from_this<InputFile> {
 public:
  struct Options {
    /// Refuses a file with other names (hard links), because its folder is then ambiguous.
    bool single_link = false;
    /// Never maps the file: for one that is read once, from begin to end.
    bool read_once = false;
  };

  /// Opens a regular file. The last component of `path` may be a symbolic link unless single_link is set. An Error has
  /// the reason, but not the path.
  static Result<std::shared_ptr<const InputFile>> open(const std::filesystem::path& path, Options options);

  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The size of the file when it was opened.
  uint64_t size() const { return size_; }
  /// Whether bytes() returns a copy.
  bool copies() const { return mapped_.empty(); }
  /// The `count` bytes from `offset` on, which must be within size(). Fails, without the path, if the file has become
  /// shorter or cannot be read.
  Result<FileBytes> bytes(uint64_t offset, size_t count) const;
  /// Copies the bytes from `offset` on, as many as `to` takes. Requires `copies()`; otherwise as above.
  Status read(uint64_t offset, std::span<std::byte> to) const;

 private:
  InputFile(int descriptor, uint64_t size) : descriptor_(descriptor), size_(size) {}
  Status map(const std::filesystem::path& path);

  int descriptor_;
  uint64_t size_;
  std::span<const std::byte> mapped_;
};

}  // namespace isomer
