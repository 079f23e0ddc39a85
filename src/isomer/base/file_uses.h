#pragma once
// Which files a command reads and writes, so that none destroys another.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "isomer/base/result.h"

namespace isomer {

/// What distinguishes the content of a regular file from another, as far as can be told without reading it.
struct FileStamp {
  uint64_t device = 0, inode = 0, bytes = 0;
  int64_t modified_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// The stamp of a regular file; nothing for other files and where there is none.
std::optional<FileStamp> file_stamp(const std::filesystem::path& path);

/// Whether two paths name one file, through symbolic and hard links too. The files need not exist. A character device,
/// such as /dev/null or a terminal, is the same as no other: what is written to it destroys nothing.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// The files of one command. `what` is how a message calls a file: the name of its option, or "the model". A path that
/// is empty is ignored.
class FileUses {
 public:
  /// A file that is only read, and must not change from now on.
  void reads(std::string what, const std::filesystem::path& path);
  /// A file that is written.
  void writes(std::string what, const std::filesystem::path& path);
  /// A file that is written and may be an input where `force` holds. `remedy` tells how to give the permission:
  /// "give --force".
  void writes(std::string what, const std::filesystem::path& path, bool force, std::string remedy);
  /// A file that is read and then written.
  void updates(std::string what, const std::filesystem::path& path);
  /// All files of `other` too.
  void add(const FileUses& other);

  /// An Error where a file that is written is another file of the command.
  Status check() const;
  /// An Error where a file that is only read has changed since it was declared.
  Status unchanged() const;

 private:
  enum class Access : uint8_t { Read, Written, Updated };
  struct Use {
    Access access;
    std::string what;
    std::filesystem::path path;
    bool force = false;
    std::string remedy = {};
    std::optional<FileStamp> stamp = std::nullopt;
  };
  static Status check_pair(const Use& a, const Use& b);

  std::vector<Use> uses_;
};

}  // namespace isomer
