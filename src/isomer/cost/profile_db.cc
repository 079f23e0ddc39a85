#include "isomer/cost/profile_db.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <thread>

namespace isomer {
namespace {

constexpr int kApplicationId = 0x49534f4d;  // "ISOM"
constexpr int kSchemaVersion = 1;
constexpr int kBusyMilliseconds = 20000;

constexpr const char* kSchema = R"(
  CREATE TABLE IF NOT EXISTS device (
    id INTEGER PRIMARY KEY, engine TEXT NOT NULL, version TEXT NOT NULL, processor TEXT NOT NULL,
    threads INTEGER NOT NULL, UNIQUE (engine, version, processor, threads));
  CREATE TABLE IF NOT EXISTS kernel (
    device INTEGER NOT NULL, signature INTEGER NOT NULL, description TEXT NOT NULL,
    us REAL NOT NULL, spread REAL NOT NULL, runs INTEGER NOT NULL, PRIMARY KEY (device, signature)) WITHOUT ROWID;
)";

/// Created on the first failure, so that files of earlier versions need no change.
constexpr const char* kFailureSchema = R"(
  CREATE TABLE IF NOT EXISTS failure (
    device INTEGER NOT NULL, signature INTEGER NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (device, signature))
    WITHOUT ROWID;
)";

/// Returns the condition for a row of `kernel` to count as a measurement. The file may come from anywhere: SQLite
/// stores text and infinity even in columns declared as numbers. No kernel takes 11 days. No clock resolves less than a
/// picosecond, but a time may be 0 after the overhead of a call is subtracted. The overhead itself is negative where
/// reported times include the reporting.
const std::string& is_measurement() {
  static const std::string condition = fmt::format(R"(
  typeof(signature) = 'integer' AND typeof(description) = 'text'
  AND typeof(us) IN ('real', 'integer') AND us < 1e12
  AND (us = 0 OR us >= 1e-6 OR (description = '{}' AND us > -1e3))
  AND typeof(spread) IN ('real', 'integer') AND spread >= 0 AND spread < 1e12
  AND typeof(runs) = 'integer' AND runs BETWEEN 0 AND 1000000000)",
                                                   kLaunchOverhead);
  return condition;
}

constexpr int64_t kMaxThreads = 1024;  // of a device

/// A prepared statement, finalized by the destructor.
class Statement {
 public:
  Statement(sqlite3* db, const std::string& sql) { sqlite3_prepare_v2(db, sql.c_str(), -1, &statement_, nullptr); }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(const std::string& text) {
    sqlite3_bind_text(statement_, ++bound_, text.c_str(), -1, SQLITE_TRANSIENT);
    return *this;
  }
  Statement& bind(int64_t value) {
    sqlite3_bind_int64(statement_, ++bound_, value);
    return *this;
  }
  Statement& bind(double value) {
    sqlite3_bind_double(statement_, ++bound_, value);
    return *this;
  }
  int step() { return statement_ == nullptr ? SQLITE_ERROR : sqlite3_step(statement_); }
  int64_t integer(int column) { return sqlite3_column_int64(statement_, column); }
  std::string text(int column) {
    const unsigned char* text = sqlite3_column_text(statement_, column);
    return text == nullptr ? std::string() : reinterpret_cast<const char*>(text);
  }
  double real(int column) { return sqlite3_column_double(statement_, column); }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

}  // namespace

void ProfileDb::Close::operator()(sqlite3* db) const { sqlite3_close(db); }

Result<ProfileDb> ProfileDb::open(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    return fail("{}: is not a regular file", path.string());
  ISOMER_TRY(ProfileDb db, connect(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  ISOMER_TRY(const bool made, db.is_made());
  if (!made) ISOMER_CHECK(db.make_tables());
  return db;
}

Result<ProfileDb> ProfileDb::open_existing(const std::filesystem::path& path, bool immutable) {
  // In its journal mode, SQLite writes files next to the database even to read it, unless it is opened as immutable.
  // That is not allowed while another process has it open: then there is a log.
  std::error_code error;
  if (std::filesystem::exists(path.string() + "-wal", error)) immutable = false;
  if (!std::filesystem::is_regular_file(path, error))
    return fail("{}: no such profile database; isomer optimize --costs-only makes one", path.string());
  ISOMER_TRY(ProfileDb db, immutable ? connect_immutable(path) : connect(path, SQLITE_OPEN_READWRITE));
  ISOMER_TRY(const bool made, db.is_made());
  if (!made) return fail("{}: not a profile database: it is empty", path.string());
  return db;
}

Result<ProfileDb> ProfileDb::open_existing(const std::filesystem::path& path) {
  return open_existing(path, !may_write(path));
}

bool ProfileDb::may_write(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  return access(folder.c_str(), W_OK | X_OK) == 0 &&
         (access(path.c_str(), F_OK) != 0 || access(path.c_str(), W_OK) == 0);
}

Result<ProfileDb> ProfileDb::open_locked(const std::filesystem::path& path) {
  if (path.empty()) return fail("locked costs need a profile database");
  ISOMER_TRY(ProfileDb db, open_existing(path, true));
  db.locked_ = true;
  return db;
}

Result<ProfileDb> ProfileDb::connect(const std::filesystem::path& path, int flags) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.empty() ? ":memory:" : path.c_str(), &handle, flags, nullptr);
  ProfileDb db(handle, path.empty() ? "profile database" : path.string());
  if (code != SQLITE_OK) return db.failure();
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  // In this journal mode, a crash of the machine may lose the last measurements, which is harmless, but never corrupts
  // the file.
  ISOMER_CHECK(db.execute("PRAGMA synchronous = NORMAL"));
  return db;
}

Result<ProfileDb> ProfileDb::connect_immutable(const std::filesystem::path& path) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string())
    uri += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/'
               ? std::string(1, c)
               : fmt::format("%{:02x}", static_cast<uint8_t>(c));
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2((uri + "?immutable=1").c_str(), &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  ProfileDb db(handle, path.string());
  if (code != SQLITE_OK) return db.failure();
  return db;
}

void ProfileDb::declare(const std::filesystem::path& path, FileUses& uses) {
  if (path.empty()) return;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    uses.updates("the profile database", path.string() + suffix);
}

tl::unexpected<Error> ProfileDb::failure() const {
  const int code = sqlite3_errcode(db_.get());
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
    return fail("{}: not a profile database, or corrupt ({})", name_, sqlite3_errmsg(db_.get()));
  return fail("{}: {}", name_, sqlite3_errmsg(db_.get()));
}

Status ProfileDb::execute(const char* sql) {
  if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failure();
  return {};
}

/// Returns whether the file has the tables; rejects files of other programs or of later versions.
Result<bool> ProfileDb::is_made() {
  const auto number = [&](const char* sql) -> Result<int64_t> {
    Statement statement(db_.get(), sql);
    if (statement.step() != SQLITE_ROW) return failure();
    return statement.integer(0);
  };
  ISOMER_TRY(const int64_t tables, number("SELECT count(*) FROM sqlite_schema"));
  ISOMER_TRY(const int64_t application, number("PRAGMA application_id"));
  ISOMER_TRY(const int64_t schema, number("PRAGMA user_version"));
  if (application != kApplicationId && (tables > 0 || application != 0))
    return fail("{}: it is a database of another program", name_);
  if (schema > kSchemaVersion) return fail("{}: it was written by a later version of Isomer", name_);
  return application == kApplicationId && schema == kSchemaVersion;
}

Status ProfileDb::make_tables() {
  ISOMER_CHECK(write_ahead());
  // If two processes create the file at once, each sees a complete one.
  return in_transaction([&]() -> Status {
    ISOMER_CHECK(execute(kSchema));
    return execute(
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kSchemaVersion).c_str());
  });
}

Status ProfileDb::in_transaction(const std::function<Status()>& work) {
  ISOMER_CHECK(execute("BEGIN IMMEDIATE"));
  Status done = work();
  if (done) done = execute("COMMIT");
  if (!done) {
    const Status ignored = execute("ROLLBACK");  // report the first error
  }
  return done;
}

/// If several processes change the mode of a new file at once, SQLite rejects all but one immediately, without calling
/// its busy handler.
Status ProfileDb::write_ahead() {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyMilliseconds);
  for (;;) {
    Status changed = execute("PRAGMA journal_mode = WAL");
    if (changed || sqlite3_errcode(db_.get()) != SQLITE_BUSY || std::chrono::steady_clock::now() > give_up)
      return changed;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Result<int64_t> ProfileDb::key_id(const ProfileKey& key) {
  Statement insert(db_.get(), "INSERT OR IGNORE INTO device (engine, version, processor, threads) VALUES (?, ?, ?, ?)");
  insert.bind(key.engine).bind(key.version).bind(key.processor).bind(int64_t{key.threads});
  if (insert.step() != SQLITE_DONE) return failure();
  ISOMER_TRY(const auto id, find_key(key));
  return id ? Result<int64_t>(*id) : failure();
}

Result<std::optional<int64_t>> ProfileDb::find_key(const ProfileKey& key) {
  Statement find(db_.get(), "SELECT id FROM device WHERE engine = ? AND version = ? AND processor = ? AND threads = ?");
  find.bind(key.engine).bind(key.version).bind(key.processor).bind(int64_t{key.threads});
  const int code = find.step();
  if (code == SQLITE_DONE) return std::nullopt;
  if (code != SQLITE_ROW) return failure();
  return find.integer(0);
}

Result<ProfileKey> ProfileDb::resolve(const ProfileKey& own) {
  if (!locked_) return own;
  ISOMER_TRY(const auto known, devices());
  std::vector<ProfileKey> alike;
  for (const auto& [key, kernels] : known) {
    if (key == own) return own;
    if (key.engine == own.engine && key.version == own.version && key.threads == own.threads) alike.push_back(key);
  }
  if (alike.size() == 1) return alike[0];
  const std::string what = fmt::format("kernels of {} {} with {} thread{}", own.engine, own.version, own.threads,
                                       own.threads == 1 ? "" : "s");
  if (alike.empty()) return fail("{}: has no {}", name_, what);
  return fail("{}: has {} of {} processors, and none of this one ({})", name_, what, alike.size(), own.processor);
}

Result<std::vector<ProfiledDevice>> ProfileDb::devices() {
  Statement select(db_.get(), R"(
    SELECT engine, version, processor, threads, count(*) FROM device JOIN kernel ON device = id
    WHERE )" + is_measurement() + " GROUP BY id ORDER BY 1, 2, 3, 4");
  std::vector<ProfiledDevice> devices;
  int code = SQLITE_ROW;
  while ((code = select.step()) == SQLITE_ROW) {
    const auto threads = static_cast<int>(select.integer(3));
    devices.push_back({{select.text(0), select.text(1), select.text(2), threads}, select.integer(4)});
  }
  if (code != SQLITE_DONE) return failure();
  return devices;
}

Result<std::vector<ProfiledKernel>> ProfileDb::load(const ProfileKey& key) {
  ISOMER_TRY(const auto device, find_key(key));
  std::vector<ProfiledKernel> times;
  if (!device) return times;
  Statement select(db_.get(), std::string("SELECT signature, us, spread, runs FROM kernel WHERE device = ? AND ") +
                                  is_measurement());
  select.bind(*device);
  int code = SQLITE_ROW;
  while ((code = select.step()) == SQLITE_ROW) {
    times.push_back({static_cast<uint64_t>(select.integer(0)),
                     {.us = select.real(1), .spread = select.real(2), .runs = static_cast<int>(select.integer(3))}});
  }
  if (code != SQLITE_DONE) return failure();
  return times;
}

Result<bool> ProfileDb::has_failures() {
  Statement select(db_.get(), "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'failure'");
  if (select.step() != SQLITE_ROW) return failure();
  return select.integer(0) > 0;
}

Result<std::map<uint64_t, std::string>> ProfileDb::load_failures(const ProfileKey& key) {
  std::map<uint64_t, std::string> reasons;
  ISOMER_TRY(const auto device, find_key(key));
  ISOMER_TRY(const bool any, has_failures());
  if (!device || !any) return reasons;
  Statement select(db_.get(), "SELECT signature, reason FROM failure WHERE device = ?");
  select.bind(*device);
  int code = SQLITE_ROW;
  while ((code = select.step()) == SQLITE_ROW) reasons[static_cast<uint64_t>(select.integer(0))] = select.text(1);
  if (code != SQLITE_DONE) return failure();
  return reasons;
}

Status ProfileDb::store_failure(const ProfileKey& key, uint64_t signature, const std::string& reason) {
  ISOMER_CHECK(execute(kFailureSchema));
  ISOMER_TRY(const int64_t device, key_id(key));
  Statement insert(db_.get(), "INSERT OR REPLACE INTO failure (device, signature, reason) VALUES (?, ?, ?)");
  insert.bind(device).bind(static_cast<int64_t>(signature)).bind(reason);
  if (insert.step() != SQLITE_DONE) return failure();
  return {};
}

Status ProfileDb::store(const ProfileKey& key, uint64_t signature, const KernelTime& time, const std::string& kernel) {
  ISOMER_TRY(const int64_t device, key_id(key));
  Statement insert(db_.get(),
                   "INSERT OR REPLACE INTO kernel (device, signature, description, us, spread, runs) "
                   "VALUES (?, ?, ?, ?, ?, ?)");
  insert.bind(device).bind(static_cast<int64_t>(signature)).bind(kernel);
  insert.bind(time.us).bind(time.spread).bind(int64_t{time.runs});
  if (insert.step() != SQLITE_DONE) return failure();
  return {};
}

Result<std::vector<ProfileDb::Row>> ProfileDb::rows() {
  Statement check(db_.get(), "PRAGMA quick_check(1)");
  if (check.step() != SQLITE_ROW) return failure();
  if (check.text(0) != "ok") return fail("{}: corrupt ({})", name_, check.text(0));
  Statement select(db_.get(), R"(
    SELECT engine, version, processor, threads, signature, us, spread, runs, description, )" +
                                  is_measurement() + R"( FROM kernel JOIN device ON device = id
    ORDER BY 1, 2, 3, 4, 5)");
  std::vector<Row> rows;
  int code = SQLITE_ROW;
  while ((code = select.step()) == SQLITE_ROW) {
    const std::string description = select.text(8);
    if (select.integer(9) == 0)
      return fail("{}: corrupt: '{}' is said to take {} us (spread {}) in {} runs", name_, description, select.text(5),
                  select.text(6), select.text(7));
    const int64_t threads = select.integer(3);
    if (threads < 1 || threads > kMaxThreads)
      return fail("{}: corrupt: '{}' is said to have run on {} threads", name_, description, threads);
    rows.push_back({{select.text(0), select.text(1), select.text(2), static_cast<int>(threads)},
                    static_cast<uint64_t>(select.integer(4)),
                    {.us = select.real(5), .spread = select.real(6), .runs = static_cast<int>(select.integer(7))},
                    description});
  }
  if (code != SQLITE_DONE) return failure();
  return rows;
}

Result<int64_t> ProfileDb::take_over(const std::vector<Row>& rows) {
  int64_t taken = 0;
  for (const Row& row : rows) {
    ISOMER_TRY(const int64_t device, key_id(row.key));
    Statement insert(db_.get(), std::string(R"(
      INSERT INTO kernel (device, signature, description, us, spread, runs) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (device, signature) DO UPDATE SET
          description = excluded.description, us = excluded.us, spread = excluded.spread, runs = excluded.runs
          WHERE excluded.runs > runs OR NOT ()") +
                                    is_measurement() + ")");
    insert.bind(device).bind(static_cast<int64_t>(row.signature)).bind(row.description);
    insert.bind(row.time.us).bind(row.time.spread).bind(int64_t{row.time.runs});
    if (insert.step() != SQLITE_DONE) return failure();
    taken += sqlite3_changes(db_.get());
  }
  return taken;
}

Result<std::vector<int64_t>> ProfileDb::merge(std::span<const std::filesystem::path> others) {
  std::vector<std::vector<Row>> found;
  for (const std::filesystem::path& path : others) {
    ISOMER_TRY(ProfileDb other, open_existing(path));
    ISOMER_TRY(found.emplace_back(), other.rows());
  }
  std::vector<int64_t> taken;
  ISOMER_CHECK(in_transaction([&]() -> Status {
    for (const std::vector<Row>& rows : found) {
      ISOMER_TRY(taken.emplace_back(), take_over(rows));
    }
    return {};
  }));
  return taken;
}

}  // namespace isomer
