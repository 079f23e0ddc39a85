#pragma once
// A folder for temporary files that goes away with the object.

#include <filesystem>

#include "isomer/base/result.h"

namespace isomer {

class TempDir {
 public:
  /// A new, empty folder in the system's place for temporary files ($TMPDIR, else /tmp).
  static Result<TempDir> make();
  ~TempDir();
  TempDir(TempDir&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TempDir& operator=(TempDir&&) = delete;
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TempDir(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace isomer
