#pragma once
// The one way to write a file.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "isomer/base/on_quit.h"
#include "isomer/base/result.h"

namespace isomer {

/// Takes bytes in order.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual Status write(std::span<const std::byte> bytes) = 0;
};

/// The file that a path names once every symbolic link is followed. It need not exist. Fails, without the path, where
/// links lead in a circle.
Result<std::filesystem::path> follow_links(std::filesystem::path path);

/// A file that is being written. A regular file gets its name only when it is complete: until then the bytes are in a
/// temporary file in the same folder. Devices and pipes, /dev/stdout among them, are written directly. Symbolic links
/// are followed, and stay.
class OutputFile : public Sink {
 public:
  /// Fails with the reason, without the path. Waits for a reader where `path` is a named pipe.
  static Result<OutputFile> open(const std::filesystem::path& path);

  /// Removes the temporary file unless it was committed. So does run_on_quit().
  ~OutputFile() override;
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;

  /// Whether bytes go directly to a device or pipe, or to a file that this process has open already. Such a file has no
  /// folder in which other files can be put for it.
  bool is_stream() const { return temporary_.empty(); }

  Status write(std::span<const std::byte> bytes) override;
  /// Closes the file; a regular file still has its temporary name.
  Status close();
  /// Gives a regular file its name, in place of any file that had it.
  Status commit();

 private:
  OutputFile(std::filesystem::path path, std::filesystem::path temporary, int descriptor)
      : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}
  static Result<OutputFile> open_stream(int descriptor);
  static Result<OutputFile> open_temporary(std::filesystem::path path, int permissions);

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty for a stream, and once committed
  int descriptor_ = -1;
  std::unique_ptr<OnQuit> on_quit_;  // removes the temporary file
};

}  // namespace isomer
