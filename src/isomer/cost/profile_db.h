#pragma once
// Measured kernels, kept in a file (SQLite) from run to run.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "isomer/base/file_uses.h"
#include "isomer/base/result.h"
#include "isomer/engine/kernels.h"

struct sqlite3;

namespace isomer {

/// What a measurement holds for.
struct ProfileKey {
  std::string engine;
  std::string version;    ///< of the engine
  std::string processor;  ///< its name
  int threads = 1;
};

struct ProfiledKernel {
  uint64_t signature = 0;
  KernelTime time;
};

/// How many kernels are known for an engine on a processor.
struct ProfiledDevice {
  ProfileKey key;
  int64_t kernels = 0;
};

/// A database of profiles. Several processes may use one file at the same time.
class ProfileDb {
 public:
  /// Opens or makes a file; in memory where the path is empty. An Error where the file is damaged or no database of
  /// ours.
  static Result<ProfileDb> open(const std::filesystem::path& path);

  /// Adds the database at `path`, and the files that SQLite keeps beside it, to the files that a command uses.
  static void declare(const std::filesystem::path& path, FileUses& uses);

  /// What has been measured, in the order of engine, version, processor and threads.
  Result<std::vector<ProfiledDevice>> devices();
  /// All measurements of one engine on one processor.
  Result<std::vector<ProfiledKernel>> load(const ProfileKey& key);
  /// Keeps a measurement in place of what there was. `kernel` describes it to people.
  Status store(const ProfileKey& key, uint64_t signature, const KernelTime& time, const std::string& kernel);
  /// Takes over the measurements of another file; of two for one kernel, the one with more runs. Returns how many were
  /// new or better.
  Result<int64_t> merge(const std::filesystem::path& other);

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  ProfileDb(sqlite3* db, std::string name) : db_(db), name_(std::move(name)) {}
  Status prepare();
  Status write_ahead();
  Status execute(const char* sql);
  tl::unexpected<Error> failure() const;
  Result<int64_t> key_id(const ProfileKey& key);

  std::unique_ptr<sqlite3, Close> db_;
  std::string name_;  // of the file, for messages
};

}  // namespace isomer
