#include "isomer/base/temp_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace isomer {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "isomer-temporary-";
constexpr std::string_view kPattern = "XXXXXX";  // mkdtemp replaces it
constexpr std::string_view kDoomed = "-doomed";

/// Whether TempDir makes folders of this name. Folders with merely similar names must not be removed.
bool is_name_of_ours(std::string_view name) {
  if (name.ends_with(kDoomed)) name.remove_suffix(kDoomed.size());
  return name.starts_with(kPrefix) && name.size() == kPrefix.size() + kPattern.size() &&
         std::ranges::all_of(name.substr(kPrefix.size()), [](unsigned char c) { return std::isalnum(c) != 0; });
}

enum class Lock { Taken, Held, Gone, Impossible };

/// Opens a folder of this user and locks it. `fd` is -1 unless the result is Taken.
Lock lock_folder(const fs::path& folder, int& fd) {
  fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? Lock::Gone : Lock::Impossible;
  struct stat opened = {};
  struct stat named = {};
  // mkdtemp makes folders that only their owner can access.
  const bool ours = ::fstat(fd, &opened) == 0 && opened.st_uid == ::geteuid() && (opened.st_mode & 0777U) == 0700U;
  const bool taken = ours && ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  const bool held = ours && !taken && errno == EWOULDBLOCK;
  // A process that removes a folder keeps it locked until it is gone.
  const bool there = ::lstat(folder.c_str(), &named) == 0 && named.st_ino == opened.st_ino;
  if (taken && there) return Lock::Taken;
  ::close(fd);
  fd = -1;
  return !there ? Lock::Gone : held ? Lock::Held : Lock::Impossible;
}

void remove_abandoned(const fs::path& base) {
  std::error_code ignored;
  fs::directory_iterator entry(base, ignored);
  for (; entry != fs::directory_iterator(); entry.increment(ignored)) {
    if (!is_name_of_ours(entry->path().filename().string())) continue;
    int fd = -1;
    if (lock_folder(entry->path(), fd) != Lock::Taken) continue;
    fs::remove_all(entry->path(), ignored);
    ::close(fd);
  }
}

/// Renames the folder first, so that a thread that still writes cannot create new files in it.
void remove_while_in_use(const fs::path& folder) {
  const fs::path doomed = folder.string() + std::string(kDoomed);
  std::error_code failed;
  fs::rename(folder, doomed, failed);
  std::error_code ignored;
  fs::remove_all(failed ? folder : doomed, ignored);
}

}  // namespace

Result<TempDir> TempDir::make() {
  std::error_code error;
  const auto base = fs::temp_directory_path(error);
  if (error) {
    const char* set = std::getenv("TMPDIR");
    return fail("no folder for temporary files{}: {}", set == nullptr ? "" : fmt::format(" (TMPDIR is '{}')", set),
                error.message());
  }
  remove_abandoned(base);
  for (;;) {
    std::string name = (base / kPrefix).string() + std::string(kPattern);
    if (::mkdtemp(name.data()) == nullptr) return fail("{}: {}", name, std::strerror(errno));
    int fd = -1;
    const Lock lock = lock_folder(name, fd);
    // Another process considered it abandoned before it was locked, and removes it.
    if (lock == Lock::Held || lock == Lock::Gone) continue;
    // On a file system without locks, no process removes the folder of another.
    const fs::path path = name;
    return TempDir(std::unique_ptr<State>(new State{path, fd, OnQuit([path] { remove_while_in_use(path); })}));
  }
}

TempDir::~TempDir() {
  if (state_ == nullptr) return;
  std::error_code ignored;
  fs::remove_all(state_->path, ignored);
  if (state_->lock >= 0) ::close(state_->lock);
}

}  // namespace isomer
