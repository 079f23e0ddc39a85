#pragma once
// Measured kernels, kept between runs in an SQLite file.

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isomer/base/file_uses.h"
#include "isomer/base/result.h"
#include "isomer/engine/kernels.h"

struct sqlite3;

namespace isomer {

/// What a measurement is valid for.
struct ProfileKey {
  std::string engine;
  std::string version;    ///< of the engine
  std::string processor;  ///< name of the processor
  int threads = 1;

  friend bool operator==(const ProfileKey&, const ProfileKey&) = default;
};

/// Describes the entry that has the overhead of a call of a kernel; its time may be negative.
inline constexpr std::string_view kLaunchOverhead = "overhead of a launch";

struct ProfiledKernel {
  uint64_t signature = 0;
  KernelTime time;
};

/// Number of kernels that are known for an engine on a processor.
struct ProfiledDevice {
  ProfileKey key;
  int64_t kernels = 0;
};

/// A database of profiles. Several processes may use one file at the same time.
class ProfileDb {
 public:
  /// Opens or creates a file; an empty path opens a database in memory. An Error if the file is corrupt or is not a
  /// profile database.
  static Result<ProfileDb> open(const std::filesystem::path& path);
  /// Whether the user may write the file, which need not exist, and its folder.
  static bool may_write(const std::filesystem::path& path);
  /// Opens an existing file, and creates nothing. If the file or its folder is read-only, it can only be read.
  static Result<ProfileDb> open_existing(const std::filesystem::path& path);
  /// Opens an existing file, and never changes it: costs from it are the same in every run. Callers that do not find a
  /// kernel report it to miss() instead of measuring it.
  static Result<ProfileDb> open_locked(const std::filesystem::path& path);

  bool locked() const { return locked_; }
  /// Records that `kernel` was needed and is not in the file.
  void miss(const std::string& kernel) { missed_.insert(kernel); }
  /// Returns the kernels that miss() was called with.
  const std::set<std::string>& missed() const { return missed_; }
  /// Returns the key whose measurements are used for `own`: `own` itself or, in a locked database without measurements
  /// for `own`, that of the only processor with measurements for the same engine, version and number of threads. An
  /// Error if there is none or several.
  Result<ProfileKey> resolve(const ProfileKey& own);

  /// Adds the database at `path`, and the files that SQLite keeps for it, to the files that a command uses.
  static void declare(const std::filesystem::path& path, FileUses& uses);

  /// Returns what has been measured, in the order of engine, version, processor and threads.
  Result<std::vector<ProfiledDevice>> devices();
  /// Returns all measurements of one engine on one processor; none if it is unknown. Rows that are not measurements (a
  /// time that is negative or not a finite number) are left out, so that they are measured again.
  Result<std::vector<ProfiledKernel>> load(const ProfileKey& key);
  /// Stores a measurement and replaces an earlier one; the database must not be locked. `kernel` is a description for
  /// people.
  Status store(const ProfileKey& key, uint64_t signature, const KernelTime& time, const std::string& kernel);
  /// Returns why kernels could not be measured, by signature. If costs are not locked, they are tried again.
  Result<std::map<uint64_t, std::string>> load_failures(const ProfileKey& key);
  /// Stores that a kernel could not be measured, until it is measured; the database must not be locked.
  Status store_failure(const ProfileKey& key, uint64_t signature, const std::string& reason);
  /// Imports the measurements of other files. If two are for the same kernel, the one with more runs is kept. Returns
  /// how many of each file were new or better. If a file is corrupt, or has a row that is not a measurement, the Error
  /// names it, and nothing is imported from any file.
  Result<std::vector<int64_t>> merge(std::span<const std::filesystem::path> others);

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  ProfileDb(sqlite3* db, std::string name) : db_(db), name_(std::move(name)) {}
  /// A measurement with its key.
  struct Row {
    ProfileKey key;
    uint64_t signature = 0;
    KernelTime time;
    std::string description;
  };

  Result<std::optional<int64_t>> find_key(const ProfileKey& key);
  /// `immutable`: opens it for reading only, unless another process has it open.
  static Result<ProfileDb> open_existing(const std::filesystem::path& path, bool immutable);
  static Result<ProfileDb> connect(const std::filesystem::path& path, int flags);
  /// Opens a file that nobody changes meanwhile, without changing it; its folder may be read-only.
  static Result<ProfileDb> connect_immutable(const std::filesystem::path& path);
  Result<bool> is_made();
  Status make_tables();
  /// Runs `work` as a transaction: if it fails, nothing changes.
  Status in_transaction(const std::function<Status()>& work);
  Result<bool> has_failures();
  /// Returns all measurements. An Error if the file is corrupt or a row is not a measurement.
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
