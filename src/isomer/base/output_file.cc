#include "isomer/base/output_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace isomer {
namespace {

namespace fs = std::filesystem;

constexpr int kNewFile = -1;  // the file does not exist yet and gets the default permissions

tl::unexpected<Error> fail_errno(const char* what) {
  return fail("{}: {}", what, std::system_category().message(errno));
}

/// The descriptor of this process that a path such as /proc/self/fd/1 or /dev/fd/1 names.
std::optional<int> own_descriptor(const fs::path& path) {
  std::error_code error;
  if (!fs::equivalent(path.parent_path(), "/proc/self/fd", error)) return std::nullopt;
  const std::string name = path.filename().string();
  int number = -1;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (problem != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

int open_file(const fs::path& path, int flags) {
  for (;;) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, 0666);
    if (descriptor >= 0 || errno != EINTR) return descriptor;
  }
}

/// While it lives, this thread gets an error instead of a signal when it writes to a pipe without a reader.
class PipeErrors {
 public:
  PipeErrors() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeErrors() {
    const int saved = errno;
    const timespec now{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = saved;
  }
  PipeErrors(const PipeErrors&) = delete;
  PipeErrors& operator=(const PipeErrors&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

}  // namespace

Result<fs::path> follow_links(fs::path path) {
  constexpr int kMaxLinks = 40;  // the kernel's limit
  for (int links = 0; links < kMaxLinks; ++links) {
    // The target of such a link need not be a path, and a newly opened file may have another position than the open
    // one.
    if (own_descriptor(path)) return path;
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    if (error) return path;
    path = path.parent_path() / target;
  }
  return fail("too many symbolic links");
}

Result<OutputFile> OutputFile::open(const fs::path& path) {
  ISOMER_TRY(fs::path real, follow_links(path));
  if (const auto open_already = own_descriptor(real)) {
    std::fflush(stdout);  // keeps the order of earlier output
    return open_stream(::fcntl(*open_already, F_DUPFD_CLOEXEC, 0));
  }
  struct stat info {};
  if (stat(real.c_str(), &info) != 0) return open_temporary(std::move(real), kNewFile);
  if (S_ISDIR(info.st_mode)) return fail("is a directory");
  if (S_ISREG(info.st_mode)) return open_temporary(std::move(real), static_cast<int>(info.st_mode & 0777U));
  return open_stream(open_file(real, O_WRONLY));
}

Result<OutputFile> OutputFile::open_stream(int descriptor) {
  if (descriptor < 0) return fail_errno("cannot be opened");
  return OutputFile({}, {}, descriptor);
}

Result<OutputFile> OutputFile::open_temporary(fs::path path, int permissions) {
  for (int n = 0;; ++n) {
    auto temporary = path;
    temporary += fmt::format(".{}-{}.part", getpid(), n);
    int descriptor = -1;
    // O_EXCL: never writes through a leftover file or a planted link of this name.
    const auto create = [&] { descriptor = open_file(temporary, O_WRONLY | O_CREAT | O_EXCL); };
    auto on_quit = std::make_unique<OnQuit>(create, [temporary] { ::unlink(temporary.c_str()); });
    if (descriptor < 0 && (errno != EEXIST || n > 1000)) return fail_errno("cannot be created");
    if (descriptor < 0) continue;
    OutputFile file(std::move(path), temporary, descriptor);
    file.on_quit_ = std::move(on_quit);
    if (permissions != kNewFile && ::fchmod(descriptor, static_cast<mode_t>(permissions)) != 0)
      return fail_errno("cannot be created");
    return file;
  }
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      on_quit_(std::move(other.on_quit_)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  constexpr size_t kChunk = size_t{64} << 20;
  const PipeErrors errors;
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kChunk));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno("cannot be written");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Status OutputFile::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor >= 0 && ::close(descriptor) != 0) return fail_errno("cannot be written");
  return {};
}

Status OutputFile::commit() {
  ISOMER_CHECK(close());
  if (is_stream()) return {};
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return fail_errno("cannot be put in place");
  temporary_.clear();
  return {};
}

}  // namespace isomer
