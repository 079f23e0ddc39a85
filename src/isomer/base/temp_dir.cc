#include "isomer/base/temp_dir.h"

#include <cstdlib>
#include <cstring>

namespace isomer {

Result<TempDir> TempDir::make() {
  std::error_code error;
  const auto base = std::filesystem::temp_directory_path(error);
  if (error) return fail("no folder for temporary files: {}", error.message());
  std::string name = (base / "isomer-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return fail("{}: {}", name, std::strerror(errno));
  return TempDir(std::filesystem::path(name));
}

TempDir::~TempDir() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace isomer
