#pragma once
// Shared by several commands: exit codes, reports, options.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/base/trace.h"
#include "isomer/cli/add_option.h"
#include "isomer/cli/files.h"
#include "isomer/cli/validators.h"
#include "isomer/cost/costs.h"
#include "isomer/engine/engine.h"
#include "isomer/engine/inputs.h"
#include "isomer/onnx/model.h"
#include "isomer/optimize/options_table.h"
#include "isomer/search/precision.h"

namespace isomer {

enum ExitCode : int { kDone = 0, kFinding = 1, kBadInput = 2 };

/// Returns the exit code of a finished command. An Error is printed to stderr as `isomer: ...`.
int finish(const Result<int>& outcome);
/// The same for a command with files. `work` runs only if no output is also another file of the command. It is an Error
/// if an input changes meanwhile. `prints`: whether the command prints on standard output.
int finish(const CommandFiles& files, const std::function<Result<int>(FileUses&)>& work, bool prints = true);

/// Returns a JSON report as text. Numbers that JSON lacks (NaN) become null, and bytes that are not UTF-8 are replaced.
std::string json_text(const nlohmann::json& report);
/// Prints a JSON report on stdout.
void print_json(const nlohmann::json& report);

/// Returns the default file for measured kernels: isomer/profile.db in the user's cache folder. Empty (no file) without
/// a home folder.
std::filesystem::path default_profile_db();

/// Options that choose an engine and its inputs.
struct EngineChoice {
  std::string name = "ort";
  EngineOptions options;
  std::filesystem::path profile_db = default_profile_db();

  void add_to(CLI::App& command, CommandFiles& files);
  /// Makes the engine. An engine that measures to choose between kernels finds earlier measurements in the profile
  /// database.
  Result<std::unique_ptr<Engine>> make() const;
  /// Returns how far outputs of the engine are from those in f32; nothing if it computes in f32.
  Result<std::optional<PrecisionLoss>> loss(const std::string& model, std::span<const NamedTensor> inputs,
                                            std::span<const Tensor> outputs) const;
};
/// Adds the fields "dtype" and, if the engine does not compute in f32, "precision" to a report.
void add_precision(nlohmann::json& report, const EngineChoice& engine, const std::optional<PrecisionLoss>& loss);

struct InputChoice {
  ShapeOptions shapes;
  uint64_t seed = 1;

  void add_to(CLI::App& command);
};

/// Adds an option that takes one text and may be repeated.
CLI::Option* add_repeated(CLI::App& command, const std::string& name, std::vector<std::string>& target,
                          const std::string& help);

/// Adds the field "provider" to a report if the engine has several.
void add_provider(nlohmann::json& report, const Engine& engine);

/// Creates the folder of the default profile database. If that fails, or the user may not write there, measured kernels
/// are not kept.
void make_folder_of(std::filesystem::path& profile_db);

/// Adds the --trace option.
void add_trace(CLI::App& command, CommandFiles& files, std::string& file, const std::string& what);
/// Writes a Chrome trace.
Status write_trace(const std::string& file, const Trace& trace);

/// Adds the --json flag.
void add_json(CLI::App& command, bool& json);

}  // namespace isomer
