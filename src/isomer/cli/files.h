#pragma once
// The files of a command.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "isomer/base/file_uses.h"
#include "isomer/onnx/model.h"

namespace isomer {

/// Declares options that name files, and checks them together before the command begins. Every option that names a file
/// is declared here; the tests try each pair of them.
class CommandFiles {
 public:
  /// An option for a file, or for a list of files, that the command reads.
  template <class Target>
  CLI::Option* reads(CLI::App& command, const std::string& option, Target& target, const std::string& help) {
    return add(command, option, target, help,
               [](FileUses& uses, const std::string& what, const auto& path) { uses.reads(what, path); });
  }
  /// An option for a file that the command writes.
  template <class Target>
  CLI::Option* writes(CLI::App& command, const std::string& option, Target& target, const std::string& help) {
    return add(command, option, target, help,
               [](FileUses& uses, const std::string& what, const auto& path) { uses.writes(what, path); });
  }
  /// An option for a file that the command reads and changes.
  template <class Target>
  CLI::Option* updates(CLI::App& command, const std::string& option, Target& target, const std::string& help) {
    return add(command, option, target, help,
               [](FileUses& uses, const std::string& what, const auto& path) { uses.updates(what, path); });
  }
  /// The profile database that an option of the table names.
  void updates_profile_db(std::filesystem::path& path);
  /// An option for a file that something else declares, or that is named by more than a path.
  template <class Target>
  static CLI::Option* option(CLI::App& command, const std::string& name, Target& target, const std::string& help) {
    return command.add_option(name, target, help)->type_name(kTypeName);
  }

  /// The files that the options name, together with standard output where the command `prints` on it.
  FileUses given(bool prints = true) const;

  /// How --help calls a file.
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

/// Imports a model and adds the files with its external data to `uses`, of which it must be one.
Result<Model> import_model(const std::string& path, FileUses& uses);

}  // namespace isomer
