#include "isomer/cli/common.h"

#include <cstdlib>

#include "isomer/base/file.h"
#include "isomer/base/printable.h"
#include "isomer/cost/tunings.h"
#include "isomer/report/chrome_trace.h"

namespace isomer {

int finish(const Result<int>& outcome) {
  if (outcome) return *outcome;
  fmt::print(stderr, "isomer: {}\n", printable_lines(outcome.error().message));
  return kBadInput;
}

int finish(const CommandFiles& files, const std::function<Result<int>(FileUses&)>& work, bool prints) {
  FileUses uses = files.given(prints);
  Result<int> outcome = uses.check().and_then([&] { return work(uses); });
  if (const Status same = uses.unchanged(); !same) outcome = tl::unexpected<Error>(same.error());
  return finish(outcome);
}

std::string json_text(const nlohmann::json& report) {
  return report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

void print_json(const nlohmann::json& report) { fmt::print("{}", json_text(report)); }

void add_provider(nlohmann::json& report, const Engine& engine) {
  if (!engine.provider().empty()) report["provider"] = engine.provider();
}

void EngineChoice::add_to(CLI::App& command, CommandFiles& files) {
  command.add_option("--engine", name, "The engine that runs the model")
      ->check(CLI::IsMember(engine_names()))
      ->capture_default_str();
  add_each(command, engine_options(options));
  add_option(command, profile_db_option(profile_db));
  files.updates_profile_db(profile_db);
}

Result<std::unique_ptr<Engine>> EngineChoice::make() const {
  ISOMER_TRY(auto engine, make_engine(name, options));
  if (!engine->tunes()) return engine;
  std::filesystem::path path = profile_db;
  make_folder_of(path);
  ISOMER_TRY(ProfileDb db, ProfileDb::open(path));
  ISOMER_CHECK(keep_tunings(*engine, std::make_shared<ProfileDb>(std::move(db))));
  return engine;
}

Result<std::optional<PrecisionLoss>> EngineChoice::loss(const std::string& model, std::span<const NamedTensor> inputs,
                                                        std::span<const Tensor> outputs) const {
  if (options.dtype == DType::Float) return std::optional<PrecisionLoss>();
  ISOMER_TRY(const PrecisionLoss lost, precision_loss(name, options, model, inputs, outputs));
  return std::optional(lost);
}

void add_precision(nlohmann::json& report, const EngineChoice& engine, const std::optional<PrecisionLoss>& loss) {
  report["dtype"] = dtype_name(engine.options.dtype);
  if (loss) report["precision"] = to_json(*loss);
}

CLI::Option* add_repeated(CLI::App& command, const std::string& name, std::vector<std::string>& target,
                          const std::string& help) {
  return repeatable(command.add_option(name, target, help + "; may be repeated"));
}

void InputChoice::add_to(CLI::App& command) {
  add_option(command, shapes_option(shapes));
  add_option(command, seed_option(seed));
}

void add_trace(CLI::App& command, CommandFiles& files, std::string& file, const std::string& what) {
  files.writes(command, "--trace", file, what + "; for chrome://tracing or Perfetto");
}

Status write_trace(const std::string& file, const Trace& trace) {
  return write_file(file, chrome_trace(trace).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + '\n');
}

void add_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print only the report, as JSON, on stdout");
}

std::filesystem::path default_profile_db() {
  const auto folder = [](const char* variable) -> std::filesystem::path {
    const char* value = std::getenv(variable);
    return value == nullptr ? "" : value;
  };
  if (const auto cache = folder("XDG_CACHE_HOME"); !cache.empty()) return cache / "isomer" / "profile.db";
  if (const auto home = folder("HOME"); !home.empty()) return home / ".cache" / "isomer" / "profile.db";
  return {};
}

void make_folder_of(std::filesystem::path& profile_db) {
  if (profile_db != default_profile_db() || profile_db.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(profile_db.parent_path(), error);
  if (error || !ProfileDb::may_write(profile_db)) profile_db.clear();
}

}  // namespace isomer
