#pragma once
// What several commands share: exit codes, reports, options.

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

/// The exit code of a finished command; an Error goes to stderr as `isomer: ...`.
int finish(const Result<int>& outcome);
/// The same for a command with files: `work` runs only where no output is another file of the command, and an input
/// that changes meanwhile is an Error. `prints`: whether the command prints on standard output.
int finish(const CommandFiles& files, const std::function<Result<int>(FileUses&)>& work, bool prints = true);

/// A JSON report as text. Numbers that are no JSON (NaN) become null, bytes that are no UTF-8 are replaced.
std::string json_text(const nlohmann::json& report);
/// Prints it on stdout.
void print_json(const nlohmann::json& report);

/// Where measured kernels are kept unless the user says otherwise: isomer/profile.db in the user's cache folder. Empty
/// (nowhere) without a home.
std::filesystem::path default_profile_db();

/// Options that choose an engine and the inputs to run it with.
struct EngineChoice {
  std::string name = "ort";
  EngineOptions options;
  std::filesystem::path profile_db = default_profile_db();

  void add_to(CLI::App& command, CommandFiles& files);
  /// An engine that measures to choose between kernels finds what it measured earlier in the profile database.
  Result<std::unique_ptr<Engine>> make() const;
  /// How far outputs of the engine are from those in f32; nothing where it computes in f32.
  Result<std::optional<PrecisionLoss>> loss(const std::string& model, std::span<const NamedTensor> inputs,
                                            std::span<const Tensor> outputs) const;
};
/// The fields "dtype" and, in other elements than f32, "precision" of a report.
void add_precision(nlohmann::json& report, const EngineChoice& engine, const std::optional<PrecisionLoss>& loss);

struct InputChoice {
  ShapeOptions shapes;
  uint64_t seed = 1;

  void add_to(CLI::App& command);
};

/// An option that takes one text, and may be given many times.
CLI::Option* add_repeated(CLI::App& command, const std::string& name, std::vector<std::string>& target,
                          const std::string& help);

/// Adds the field "provider" to a report if the engine has several.
void add_provider(nlohmann::json& report, const Engine& engine);

/// Makes the folder of the default; where that cannot be, kernels are kept nowhere.
void make_folder_of(std::filesystem::path& profile_db);

/// The --trace option.
void add_trace(CLI::App& command, CommandFiles& files, std::string& file, const std::string& what);
/// Writes a Chrome trace.
Status write_trace(const std::string& file, const Trace& trace);

/// The --json flag.
void add_json(CLI::App& command, bool& json);

}  // namespace isomer
