#pragma once
// Writing files. All output files are written through OutputFile.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "isomer/base/on_quit.h"
#include "isomer/base/result.h"

namespace isomer {

/// Receives bytes in order.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual Status write(std::span<const std::byte> bytes) = 0;
};

/// The path with every symbolic link followed. The file need not exist. Fails if the links form a cycle; the Error does
/// not contain the path.
Result<std::filesystem::path> follow_links(std::filesystem::path path);

/// A file that is being written. A regular file is written to a temporary file in the same folder, and gets its name
/// only when it is complete. Devices and pipes, such as /dev/stdout, are written directly. Symbolic links are followed
/// and stay in place.
class OutputFile : public Sink {
 public:
  /// Opens the file. An Error gives the reason but not the path. Blocks until there is a reader if `path` is a named
  /// pipe.
  static Result<OutputFile> open(const std::filesystem::path& path);

  /// Removes the temporary file unless it was committed. run_on_quit() does the same.
  ~OutputFile() override;
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;

  /// Whether bytes go directly to a device or pipe, or to a file that this process has already open. Then there is no
  /// folder where related files can be written.
  bool is_stream() const { return temporary_.empty(); }

  Status write(std::span<const std::byte> bytes) override;
  /// Closes the file. A regular file keeps its temporary name.
  Status close();
  /// Gives a regular file its final name and replaces any file of that name.
  Status commit();

 private:
  OutputFile(std::filesystem::path path, std::filesystem::path temporary, int descriptor)
      : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}
  static Result<OutputFile> open_stream(int descriptor);
  static Result<OutputFile> open_temporary(std::filesystem::path path, int permissions);

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty for a stream and after commit()
  int descriptor_ = -1;
  std::unique_ptr<OnQuit> on_quit_;  // removes the temporary file
};

}  // namespace isomer
