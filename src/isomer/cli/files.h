#pragma once
// The files of a command.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "isomer/base/file_uses.h"
#include "isomer/onnx/import.h"

namespace isomer {

/// Declares options that name files, and checks them together before the command begins. Every option that names a file
/// is declared here; tests try each pair of them.
class CommandFiles {
 public:
  /// Adds an option for a file, or for a list of files, that the command reads.
  template <class Target>
  CLI::Option* reads(CLI::App& command, const std::string& option, Target& target, const std::string& help) {
    return add(command, option, target, help,
               [](FileUses& uses, const std::string& what, const auto& path) { uses.reads(what, path); });
  }
  /// Adds an option for a file that the command writes.
  template <class Target>
  CLI::Option* writes(CLI::App& command, const std::string& option, Target& target, const std::string& help) {
    return add(command, option, target, help,
               [](FileUses& uses, const std::string& what, const auto& path) { uses.writes(what, path); });
  }
  /// Adds an option for a file that the command reads and changes.
  template <class Target>
  CLI::Option* updates(CLI::App& command, const std::string& option, Target& target, const std::string& help) {
    return add(command, option, target, help,
               [](FileUses& uses, const std::string& what, const auto& path) { uses.updates(what, path); });
  }
  /// Declares the profile database that an option of the table names.
  void updates_profile_db(std::filesystem::path& path);
  /// Adds an option for a file that is declared elsewhere, or that is given by more than a path.
  template <class Target>
  static CLI::Option* option(CLI::App& command, const std::string& name, Target& target, const std::string& help) {
    return command.add_option(name, target, help)->type_name(kTypeName);
  }

  /// Returns the files that the options name, and standard output if the command `prints` on it.
  FileUses given(bool prints = true) const;

  /// The placeholder of a file in --help.
  static constexpr const char* kTypeName = "FILE";

 private:
  template <class Target, class Declare>
  CLI::Option* add(CLI::App& command, const std::string& name, Target& target, const std::string& help,
                   Declare declare) {
    CLI::Option* made = option(command, name, target, help);
    declarations_.push_back([made, &target, declare](FileUses& uses) {
      if constexpr (std::is_same_v<Target, std::vector<std::string>>) {
        for (const std::string& path : target) declare(uses, made->get_name(), path);
      } else {
        declare(uses, made->get_name(), target);
      }
    });
    return made;
  }

  std::vector<std::function<void(FileUses&)>> declarations_;
};

/// Imports a model and adds its files of external data to `uses`, which must contain the model.
Result<Model> import_model(const std::string& path, FileUses& uses, const ImportOptions& options = {});

}  // namespace isomer
