#include "isomer/base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace isomer {
namespace fs = std::filesystem;

Result<std::string> read_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return fail("{}: is a folder", path.string());
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail("{}: {}", path.string(), std::strerror(errno));
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) return fail("{}: cannot be read", path.string());
  return bytes;
}

Status write_file(const fs::path& path, std::string_view bytes) {
  const fs::path temporary = path.string() + fmt::format(".tmp{}", ::getpid());
  // O_EXCL: a leftover or a planted link of this name is an error, never written through.
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return fail("{}: {}", path.string(), std::strerror(errno));
  int failure = 0;
  while (!bytes.empty() && failure == 0) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      failure = errno;
    }
  }
  if (::close(fd) != 0 && failure == 0) failure = errno;
  if (failure == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) failure = errno;
  if (failure == 0) return {};
  ::unlink(temporary.c_str());
  return fail("{}: {}", path.string(), std::strerror(failure));
}

Status may_write(const fs::path& output, std::span<const fs::path> inputs, bool force) {
  if (force) return {};
  for (const fs::path& input : inputs) {
    std::error_code error;
    if (fs::equivalent(output, input, error)) {
      return fail("{}: is an input; give --force to overwrite it", output.string());
    }
  }
  return {};
}

}  // namespace isomer
