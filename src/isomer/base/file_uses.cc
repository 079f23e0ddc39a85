#include "isomer/base/file_uses.h"

#include <sys/stat.h>

#include <system_error>

#include "isomer/base/output_file.h"

namespace isomer {
namespace fs = std::filesystem;

namespace {

/// A name that is the same for all paths to one file, even before the file exists.
fs::path resolved(const fs::path& path) {
  const fs::path real = follow_links(path).value_or(path);
  std::error_code error;
  const fs::path folder = real.has_parent_path() ? real.parent_path() : fs::path(".");
  const fs::path canonical = fs::weakly_canonical(folder, error);
  return (error ? folder : canonical) / real.filename();
}

/// Fails if no file can be written there. Devices and pipes are not tried: opening a pipe waits for its reader.
Status check_writable(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) return {};
  const auto opened = OutputFile::open(path);  // closing it without a commit leaves nothing behind
  return opened ? Status() : fail_in(path.string(), opened.error());
}

}  // namespace

std::optional<FileStamp> file_stamp(const fs::path& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  constexpr int64_t kBillion = 1'000'000'000;
  return FileStamp{.device = info.st_dev,
                   .inode = info.st_ino,
                   .bytes = static_cast<uint64_t>(info.st_size),
                   .modified_ns = info.st_mtim.tv_sec * kBillion + info.st_mtim.tv_nsec};
}

bool same_file(const fs::path& a, const fs::path& b) {
  struct stat of_a {
  }, of_b{};
  const bool a_exists = stat(a.c_str(), &of_a) == 0;
  const bool b_exists = stat(b.c_str(), &of_b) == 0;
  if (a_exists != b_exists) return false;
  if (!a_exists) return resolved(a) == resolved(b);
  return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino && !S_ISCHR(of_a.st_mode);
}

void FileUses::reads(std::string what, const fs::path& path) {
  uses_.push_back({.access = Access::Read, .what = std::move(what), .path = path, .stamp = file_stamp(path)});
}

void FileUses::reads_part(std::string what, const fs::path& path) {
  reads(std::move(what), path);
  uses_.back().part = true;
}

void FileUses::writes(std::string what, const fs::path& path) { writes(std::move(what), path, false, ""); }

void FileUses::writes(std::string what, const fs::path& path, bool force, std::string remedy) {
  uses_.push_back(
      {.access = Access::Written, .what = std::move(what), .path = path, .force = force, .remedy = std::move(remedy)});
}

void FileUses::updates(std::string what, const fs::path& path) {
  uses_.push_back({.access = Access::Updated, .what = std::move(what), .path = path});
}

void FileUses::add(const FileUses& other) { uses_.insert(uses_.end(), other.uses_.begin(), other.uses_.end()); }

Status FileUses::check_pair(const Use& a, const Use& b) {
  if (a.access == Access::Read && b.access == Access::Read) return {};
  if (a.path.empty() || b.path.empty() || !same_file(a.path, b.path)) return {};
  if (a.access == Access::Written && b.access == Access::Read) return check_pair(b, a);
  if (a.access == Access::Read && b.access == Access::Written) {
    if (b.force && !a.part) return {};
    return fail("{}: is an input ({}), which {} would overwrite{}", b.path.string(), a.what, b.what,
                b.remedy.empty() || a.part ? "" : "; " + b.remedy + " to allow it");
  }
  return fail("{}: {} and {} are the same file", b.path.string(), a.what, b.what);
}

Status FileUses::check() const {
  for (const Use& use : uses_)
    if (use.access != Access::Read && use.path == "-")
      return fail("{}: '-' is ambiguous; give ./- for a file of this name", use.what);
  for (size_t i = 0; i < uses_.size(); ++i)
    for (size_t j = 0; j < i; ++j) ISOMER_CHECK(check_pair(uses_[j], uses_[i]));
  return {};
}

Status FileUses::writable() const {
  for (const Use& use : uses_)
    if (use.access == Access::Written && !use.path.empty()) ISOMER_CHECK(check_writable(use.path));
  return {};
}

Status FileUses::unchanged() const {
  for (const Use& use : uses_)
    if (use.stamp && file_stamp(use.path) != use.stamp)
      return fail("{}: has changed since the command began to read it", use.path.string());
  return {};
}

}  // namespace isomer
