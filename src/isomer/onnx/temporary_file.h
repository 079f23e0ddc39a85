#pragma once
// A file that takes its name only when it is complete.

#include <filesystem>

#include "isomer/onnx/wire.h"

namespace isomer {

class TemporaryFile : public Sink {
 public:
  /// Opens a new file beside `path`. Fails with the reason, without the path.
  static Result<TemporaryFile> create(const std::filesystem::path& path);

  /// Removes the file unless it was committed.
  ~TemporaryFile() override;
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;

  Status write(std::span<const std::byte> bytes) override;
  /// Closes the file; it still has its temporary name.
  Status close();
  /// Gives the file its name, in place of any file that had it.
  Status commit();

 private:
  TemporaryFile(std::filesystem::path path, std::filesystem::path temporary, int descriptor)
      : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty once committed
  int descriptor_ = -1;
};

}  // namespace isomer
