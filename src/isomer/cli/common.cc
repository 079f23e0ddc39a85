#include "isomer/cli/common.h"

#include <cstdlib>
#include <map>

#include "isomer/base/file.h"
#include "isomer/base/printable.h"
#include "isomer/cost/tunings.h"
#include "isomer/optimize/chrome_trace.h"

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

void add_dtype(CLI::App& command, EngineOptions& options) {
  static const std::map<std::string, DType> kTypes = {
      {"f32", DType::Float}, {"bf16", DType::BFloat16}, {"f16", DType::Half}};
  command
      .add_option_function<std::string>(
          "--dtype", [&options](const std::string& name) { options.dtype = kTypes.at(name); },
          "onednn: elements in which convolutions and products compute; how far that is from f32 is reported")
      ->check(CLI::IsMember(kTypes))
      ->default_str("f32");
}

void EngineChoice::add_to(CLI::App& command, CommandFiles& files) {
  command.add_option("--engine", name, "What runs the model")
      ->check(CLI::IsMember(engine_names()))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "Threads of the engine")
      ->check(in_range(kThreads))
      ->capture_default_str();
  files.updates_profile_db(command, profile_db);
  add_dtype(command, options);
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
  return command.add_option(name, target, help + "; may be given many times")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void InputChoice::add_to(CLI::App& command) {
  add_repeated(command, "--shape", shapes, "NAME:1,3,224,224 (extents of an input) or N=8 (value of a symbol); else 1");
  command.add_option("--seed", seed, "Seed of the random inputs")->check(in_range(kSeed))->capture_default_str();
}

Result<ShapeOptions> InputChoice::shape_options() const {
  ShapeOptions options;
  for (const std::string& text : shapes) ISOMER_CHECK(add_shape_option(text, options));
  return options;
}

void add_trace(CLI::App& command, CommandFiles& files, std::string& file, const std::string& what) {
  files.writes(command, "--trace", file, what + "; for chrome://tracing or Perfetto");
}

Status write_trace(const std::string& file, const Trace& trace) {
  return write_file(file, chrome_trace(trace).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + '\n');
}

void add_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print the report as JSON, and nothing else, on stdout");
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
  if (error) profile_db.clear();
}

void add_costs(CLI::App& command, CostOptions& options, CommandFiles& files, const std::vector<std::string>& engines) {
  options.profile_db = default_profile_db();
  command.add_option("--engine", options.engine, "What the model shall run on; roofline: a cost model, no device")
      ->check(CLI::IsMember(engines))
      ->capture_default_str();
  command.add_option("--threads", options.engine_options.threads, "Threads of the engine")
      ->check(in_range(kThreads))
      ->capture_default_str();
  add_dtype(command, options.engine_options);
  files.updates_profile_db(command, options.profile_db);
  command.add_option("--peak-flops", options.roofline.flops_per_second, "roofline: FLOPs a second")
      ->check(in_range(NumberRange{.least = 0, .open = true}))
      ->capture_default_str();
  command.add_option("--peak-bytes", options.roofline.bytes_per_second, "roofline: bytes a second")
      ->check(in_range(NumberRange{.least = 0, .open = true}))
      ->capture_default_str();
  command.add_option("--kernel-overhead", options.roofline.kernel_overhead_us, "roofline: microseconds a kernel")
      ->check(in_range(NumberRange{.least = 0}))
      ->capture_default_str();
}

}  // namespace isomer
