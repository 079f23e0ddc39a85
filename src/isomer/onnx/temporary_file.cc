#include "isomer/onnx/temporary_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace isomer {
namespace {

tl::unexpected<Error> fail_errno(const char* what) {
  return fail("{}: {}", what, std::system_category().message(errno));
}

}  // namespace

Result<TemporaryFile> TemporaryFile::create(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return fail("is a directory");
  for (int n = 0;; ++n) {
    auto temporary = path;
    temporary += fmt::format(".{}-{}.part", getpid(), n);
    const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return TemporaryFile(path, std::move(temporary), descriptor);
    if (errno != EEXIST || n > 1000) return fail_errno("cannot be created");
  }
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status TemporaryFile::write(std::span<const std::byte> bytes) {
  constexpr size_t kChunk = size_t{64} << 20;
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kChunk));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno("cannot be written");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Status TemporaryFile::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor >= 0 && ::close(descriptor) != 0) return fail_errno("cannot be written");
  return {};
}

Status TemporaryFile::commit() {
  ISOMER_CHECK(close());
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return fail_errno("cannot be put in place");
  temporary_.clear();
  return {};
}

}  // namespace isomer
