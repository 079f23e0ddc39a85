// isomer profile: shows and merges databases of measured kernels.

#include <filesystem>
#include <memory>

#include "isomer/base/table.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/cost/profile_db.h"

namespace isomer {
namespace {

struct ProfileOptions {
  CommandFiles files;
  std::filesystem::path db = default_profile_db();
  std::vector<std::string> others;
  bool json = false;
};

Result<int> show(const ProfileOptions& options) {
  ISOMER_TRY(ProfileDb db, ProfileDb::open_existing(options.db));
  ISOMER_TRY(const auto devices, db.devices());
  Table table({"<engine", "<version", "<processor", ">threads", ">kernels"});
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& [key, kernels] : devices) {
    table.row({key.engine, key.version, key.processor, std::to_string(key.threads), std::to_string(kernels)});
    rows.push_back({{"engine", key.engine},
                    {"version", key.version},
                    {"processor", key.processor},
                    {"threads", key.threads},
                    {"kernels", kernels}});
  }
  if (options.json)
    print_json({{"file", options.db.string()}, {"devices", rows}});
  else
    fmt::print("{}\n\n{}", options.db.string(), table.str());
  return kDone;
}

Result<int> merge(const ProfileOptions& options) {
  std::filesystem::path path = options.db;
  make_folder_of(path);
  if (path.empty() && !options.db.empty()) return fail("{}: may not be written", options.db.string());
  ISOMER_TRY(ProfileDb db, ProfileDb::open(path));
  nlohmann::json rows = nlohmann::json::array();
  const std::vector<std::filesystem::path> others(options.others.begin(), options.others.end());
  ISOMER_TRY(const std::vector<int64_t> taken, db.merge(others));
  for (size_t i = 0; i < taken.size(); ++i) {
    rows.push_back({{"file", options.others[i]}, {"taken", taken[i]}});
    if (!options.json) fmt::print("{}: {} kernels merged\n", options.others[i], taken[i]);
  }
  if (options.json) print_json({{"file", options.db.string()}, {"merged", rows}});
  return kDone;
}

CLI::App* add_part(CLI::App& command, const char* name, const char* what, const char* example,
                   const std::shared_ptr<ProfileOptions>& options) {
  CLI::App* part = command.add_subcommand(name, what);
  part->footer(example);
  add_json(*part, options->json);
  return part;
}

}  // namespace

void add_profile(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("profile", "Show and merge databases of measured kernels");
  command->footer("Example: isomer profile merge build-machine.db");
  command->require_subcommand(1);
  const auto options = std::make_shared<ProfileOptions>();
  CLI::App* shown = add_part(*command, "show", "Show the engines and processors on which kernels were measured",
                             "Example: isomer profile show --profile-db build-machine.db", options);
  CommandFiles::option(*shown, "--profile-db", options->db, "Database to show")->capture_default_str();
  shown->callback([options, &exit_code] { exit_code = finish(show(*options)); });
  CLI::App* merged =
      add_part(*command, "merge",
               "Merge other databases into that of --profile-db; of two entries, the one with more runs is kept",
               "Example: isomer profile merge build-machine.db", options);
  options->files.reads(*merged, "others", options->others, "Databases to read")->required();
  add_option(*merged, profile_db_option(options->db));
  options->files.updates_profile_db(options->db);
  merged->callback(
      [options, &exit_code] { exit_code = finish(options->files, [&](FileUses&) { return merge(*options); }); });
}

}  // namespace isomer
