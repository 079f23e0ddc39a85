#pragma once
// Keeps track of the files that a command reads and writes, so that it does not overwrite one by mistake.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "isomer/base/result.h"

namespace isomer {

/// Identifies the content of a regular file, as far as possible without reading it.
struct FileStamp {
  uint64_t device = 0, inode = 0, bytes = 0;
  int64_t modified_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// The stamp of a regular file; nullopt if the path does not name one.
std::optional<FileStamp> file_stamp(const std::filesystem::path& path);

/// Whether two paths name the same file, also through symbolic and hard links. The files need not exist. A character
/// device, such as /dev/null or a terminal, never counts as the same file, because writing to it destroys nothing.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// The files of one command. `what` names a file in messages: its option, or "the model". An empty path is ignored.
class FileUses {
 public:
  /// Adds a file that is only read. It must not change from now on.
  void reads(std::string what, const std::filesystem::path& path);
  /// Adds a file that is only read, and that may not be an output even if `force` is set: another file needs it.
  void reads_part(std::string what, const std::filesystem::path& path);
  /// Adds a file that is written.
  void writes(std::string what, const std::filesystem::path& path);
  /// Adds a file that is written and may also be an input if `force` is set. `remedy` tells the user how to permit
  /// that: "give --force".
  void writes(std::string what, const std::filesystem::path& path, bool force, std::string remedy);
  /// Adds a file that is read and then written.
  void updates(std::string what, const std::filesystem::path& path);
  /// Adds all files of `other`.
  void add(const FileUses& other);

  /// Fails if a file that is written is also another file of the command, or if its path is "-", by which users may
  /// mean standard output.
  Status check() const;
  /// Fails if a file that is written cannot be created. Tries it, which leaves nothing behind. For commands that take
  /// long: others may create folders before they write.
  Status writable() const;
  /// Fails if a file that is only read has changed since it was added.
  Status unchanged() const;

 private:
  enum class Access : uint8_t { Read, Written, Updated };
  struct Use {
    Access access;
    std::string what;
    std::filesystem::path path;
    bool force = false;
    bool part = false;
    std::string remedy = {};
    std::optional<FileStamp> stamp = std::nullopt;
  };
  static Status check_pair(const Use& a, const Use& b);

  std::vector<Use> uses_;
};

}  // namespace isomer
