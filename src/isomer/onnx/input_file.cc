#include "isomer/onnx/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <string>
#include <system_error>

namespace isomer {
namespace {

tl::unexpected<Error> fail_errno(const char* what) {
  return fail("{}: {}", what, std::system_category().message(errno));
}

/// A mapped file, for the SIGBUS handler, which must not use locks. Entries are reused but never freed; `begin` is null
/// in unused entries.
struct Mapping {
  std::atomic<const std::byte*> begin = nullptr;
  size_t size = 0;
  std::string name;
  Mapping* next = nullptr;
};
std::atomic<Mapping*> mappings = nullptr;
std::atomic<bool> maps_files = false;

std::mutex& changing_mappings() {
  static std::mutex mutex;
  return mutex;
}

void add_mapping(std::span<const std::byte> bytes, std::string name) {
  const std::lock_guard<std::mutex> lock(changing_mappings());
  Mapping* entry = mappings;
  while (entry != nullptr && entry->begin != nullptr) entry = entry->next;
  const bool made = entry == nullptr;
  if (made) entry = new Mapping;
  entry->size = bytes.size();
  entry->name = std::move(name);
  entry->begin = bytes.data();
  if (!made) return;
  entry->next = mappings;
  mappings = entry;
}

void remove_mapping(std::span<const std::byte> bytes) {
  const std::lock_guard<std::mutex> lock(changing_mappings());
  for (Mapping* entry = mappings; entry != nullptr; entry = entry->next)
    if (entry->begin == bytes.data()) entry->begin = nullptr;
}

void print(const char* text) {
  const ssize_t ignored = ::write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(ignored);
}

/// Lost pages of a mapped file cannot be replaced with correct content, so the process exits.
void end_on_lost_page(int signal, siginfo_t* info, void*) {
  const auto* address = static_cast<const std::byte*>(info->si_addr);
  for (const Mapping* entry = mappings; entry != nullptr; entry = entry->next) {
    const std::byte* begin = entry->begin;
    if (begin == nullptr || address < begin || address >= begin + entry->size) continue;
    print("isomer: ");
    print(entry->name.c_str());
    print(": was truncated, or could not be read, while it was in use\n");
    _exit(2);
  }
  ::signal(signal, SIG_DFL);  // not one of Isomer's files: the access is repeated, and its signal ends the process
}

Status check(int descriptor, InputFile::Options options, struct stat& info) {
  if (fstat(descriptor, &info) != 0) return fail_errno("cannot be examined");
  if (S_ISDIR(info.st_mode)) return fail("is a directory");
  if (!S_ISREG(info.st_mode)) return fail("is not a regular file");
  if (options.single_link && info.st_nlink > 1)
    return fail("has {} names (hard links), which may lie outside of the model's folder", info.st_nlink);
  return {};
}

}  // namespace

void map_input_files() {
  struct sigaction action {};
  action.sa_sigaction = end_on_lost_page;
  action.sa_flags = SA_SIGINFO;
  maps_files = sigaction(SIGBUS, &action, nullptr) == 0;
}

Result<std::shared_ptr<const InputFile>> InputFile::open(const std::filesystem::path& path, Options options) {
  // O_NONBLOCK: opening a pipe must not wait for its other end.
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (options.single_link ? O_NOFOLLOW : 0);
  const int descriptor = ::open(path.c_str(), flags);
  if (descriptor < 0) return fail_errno("cannot be opened");
  std::shared_ptr<InputFile> file(new InputFile(descriptor, 0));
  struct stat info {};
  ISOMER_CHECK(check(descriptor, options, info));
  file->size_ = static_cast<uint64_t>(info.st_size);
  if (maps_files && !options.read_once && file->size_ > 0) ISOMER_CHECK(file->map(path));
  return file;
}

Status InputFile::map(const std::filesystem::path& path) {
  void* address = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (address == MAP_FAILED) return fail_errno("cannot be mapped");
  mapped_ = {static_cast<const std::byte*>(address), size_};
  add_mapping(mapped_, path.string());
  ::close(std::exchange(descriptor_, -1));
  return {};
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (mapped_.empty()) return;
  remove_mapping(mapped_);
  munmap(const_cast<std::byte*>(mapped_.data()), mapped_.size());
}

Result<FileBytes> InputFile::bytes(uint64_t offset, size_t count) const {
  if (!copies()) return FileBytes{mapped_.subspan(offset, count), shared_from_this()};
  const std::shared_ptr<std::byte[]> copy(new std::byte[count]);  // not initialized to zero
  ISOMER_CHECK(read(offset, {copy.get(), count}));
  return FileBytes{{copy.get(), count}, copy};
}

Status InputFile::read(uint64_t offset, std::span<std::byte> to) const {
  constexpr size_t kChunk = size_t{64} << 20;
  while (!to.empty()) {
    const ssize_t got = ::pread(descriptor_, to.data(), std::min(to.size(), kChunk), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("cannot be read");
    if (got == 0) return fail("was truncated while it was read");
    to = to.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return {};
}

}  // namespace isomer
