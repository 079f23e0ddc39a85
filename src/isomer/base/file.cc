#include "isomer/base/file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>

#include "isomer/base/output_file.h"

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
  const auto write = [&]() -> Status {
    ISOMER_TRY(OutputFile file, OutputFile::open(path));
    ISOMER_CHECK(file.write(std::as_bytes(std::span(bytes))));
    return file.commit();
  };
  return in_context(path.string(), write());
}

}  // namespace isomer
