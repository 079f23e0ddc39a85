#pragma once
// A folder for temporary files that goes away with the object.

#include <filesystem>
#include <memory>

#include "isomer/base/on_quit.h"
#include "isomer/base/result.h"

namespace isomer {

/// The folder is locked (flock) while the object lives. The lock ends with the process, however that ends, so that a
/// folder which nobody has locked has no owner any more: the next TempDir removes it.
class TempDir {
 public:
  /// A new, empty folder in the system's place for temporary files ($TMPDIR, else /tmp). Also removes those of this
  /// user that dead processes left there.
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
