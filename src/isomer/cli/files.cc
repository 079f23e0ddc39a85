#include "isomer/cli/files.h"

#include "isomer/cost/profile_db.h"
#include "isomer/onnx/content.h"
#include "isomer/onnx/import.h"

namespace isomer {

void CommandFiles::updates_profile_db(std::filesystem::path& path) {
  declarations_.emplace_back([&path](FileUses& uses) { ProfileDb::declare(path, uses); });
}

FileUses CommandFiles::given(bool prints) const {
  FileUses uses;
  for (const auto& declare : declarations_) declare(uses);
  if (prints) uses.writes("what the command prints", "/dev/stdout");
  return uses;
}

Result<Model> import_model(const std::string& path, FileUses& uses, const ImportOptions& options) {
  ISOMER_TRY(Model model, import_model(path, options));
  declare_external_files(path, model, uses);
  ISOMER_CHECK(uses.check());
  return model;
}

}  // namespace isomer
