#include "isomer/onnx/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace isomer {
namespace {

tl::unexpected<Error> fail_errno(const char* what) {
  return fail("{}: {}", what, std::system_category().message(errno));
}

Result<std::span<const std::byte>> map_descriptor(int descriptor, MappedFile::Options options) {
  struct stat info {};
  if (fstat(descriptor, &info) != 0) return fail_errno("cannot be examined");
  if (S_ISDIR(info.st_mode)) return fail("is a directory");
  if (!S_ISREG(info.st_mode)) return fail("is not a regular file");
  if (options.single_link && info.st_nlink > 1)
    return fail("has {} names (hard links), which may lie outside of the model's folder", info.st_nlink);
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return std::span<const std::byte>();
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) return fail_errno("cannot be mapped");
  return std::span<const std::byte>(static_cast<const std::byte*>(address), size);
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path, Options options) {
  // O_NONBLOCK: opening a pipe must not wait for its other end.
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (options.single_link ? O_NOFOLLOW : 0);
  const int descriptor = ::open(path.c_str(), flags);
  if (descriptor < 0) return fail_errno("cannot be opened");
  auto bytes = map_descriptor(descriptor, options);
  close(descriptor);
  if (!bytes) return tl::unexpected<Error>(std::move(bytes).error());
  return std::shared_ptr<const MappedFile>(new MappedFile(*bytes));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace isomer
