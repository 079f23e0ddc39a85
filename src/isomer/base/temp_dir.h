#pragma once
// A folder for temporary files that is removed with the object.

#include <filesystem>
#include <memory>

#include "isomer/base/on_quit.h"
#include "isomer/base/result.h"

namespace isomer {

/// The folder is locked (flock) during the lifetime of the object. The lock ends with the process, even after a crash.
/// So a folder without a lock is abandoned, and the next TempDir removes it.
class TempDir {
 public:
  /// Makes an empty folder in the system's folder for temporary files ($TMPDIR, else /tmp). Also removes the abandoned
  /// folders of this user there.
  static Result<TempDir> make();
  ~TempDir();
  TempDir(TempDir&&) noexcept = default;
  TempDir& operator=(TempDir&&) = delete;
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return state_->path; }

 private:
  struct State {
    std::filesystem::path path;
    int lock;
    OnQuit on_quit;
  };
  explicit TempDir(std::unique_ptr<State> state) : state_(std::move(state)) {}

  std::unique_ptr<State> state_;
};

}  // namespace isomer
