#pragma once
// Measured kernels, kept in a file (SQLite) from run to run.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
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

  friend bool operator==(const ProfileKey&, const ProfileKey&) = default;
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
  /// Opens a file that must be there, and makes nothing.
  static Result<ProfileDb> open_existing(const std::filesystem::path& path);
  /// Opens a file that must be there, and never changes it: costs that come from it are the same in every run. Those
  /// who look for a kernel in vain report it to miss() instead of measuring it.
  static Result<ProfileDb> open_locked(const std::filesystem::path& path);

  bool locked() const { return locked_; }
  /// Notes that `kernel` was needed and is not in the file.
  void miss(const std::string& kernel) { missed_.insert(kernel); }
  /// What miss() was called with.
  const std::set<std::string>& missed() const { return missed_; }
  /// Whose measurements stand for those of `own`: `own` itself. In a locked database without any of `own`: the only
  /// processor that has some of the same engine, version and number of threads; an Error where there is none, or
  /// several.
  Result<ProfileKey> resolve(const ProfileKey& own);

  /// Adds the database at `path`, and the files that SQLite keeps for it, to the files that a command uses.
  static void declare(const std::filesystem::path& path, FileUses& uses);

  /// What has been measured, in the order of engine, version, processor and threads.
  Result<std::vector<ProfiledDevice>> devices();
  /// All measurements of one engine on one processor; none where it is unknown. Rows that are not measurements (a time
  /// that is negative or not a finite number) are left out, so that they are measured again.
  Result<std::vector<ProfiledKernel>> load(const ProfileKey& key);
  /// Keeps a measurement in place of what there was; the database must not be locked. `kernel` describes it to people.
  Status store(const ProfileKey& key, uint64_t signature, const KernelTime& time, const std::string& kernel);
  /// Takes over the measurements of other files; of two for one kernel, the one with more runs. Returns how many of
  /// each file were new or better. Where one file is damaged, or has a row that is not a measurement, the Error names
  /// it, and nothing is taken over from any.
  Result<std::vector<int64_t>> merge(std::span<const std::filesystem::path> others);

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  ProfileDb(sqlite3* db, std::string name) : db_(db), name_(std::move(name)) {}
  /// A measurement with what it holds for.
  struct Row {
    ProfileKey key;
    uint64_t signature = 0;
    KernelTime time;
    std::string description;
  };

  Result<std::optional<int64_t>> find_key(const ProfileKey& key);
  static Result<ProfileDb> connect(const std::filesystem::path& path, int flags);
  /// A file that nobody changes meanwhile, nor is changed by this; it may be in a folder that cannot be written.
  static Result<ProfileDb> connect_immutable(const std::filesystem::path& path);
  Result<bool> is_made();
  Status make_tables();
  /// Does all of `work` or, where it fails, nothing.
  Status in_transaction(const std::function<Status()>& work);
  /// All measurements. An Error where the file is damaged or a row is not a measurement.
  Result<std::vector<Row>> rows();
  Result<int64_t> take_over(const std::vector<Row>& rows);
  Status write_ahead();
  Status execute(const char* sql);
  tl::unexpected<Error> failure() const;
  Result<int64_t> key_id(const ProfileKey& key);

  std::unique_ptr<sqlite3, Close> db_;
  std::string name_;  // of the file, for messages
  bool locked_ = false;
  std::set<std::string> missed_;
};

}  // namespace isomer
