#include "isomer/cost/profile_db.h"

#include <sqlite3.h>

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

/// A prepared statement that goes with the object.
class Statement {
 public:
  Statement(sqlite3* db, const char* sql) { sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr); }
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
  sqlite3* handle = nullptr;
  const int code = sqlite3_open(path.empty() ? ":memory:" : path.c_str(), &handle);
  ProfileDb db(handle, path.empty() ? "profile database" : path.string());
  if (code != SQLITE_OK) return db.failure();
  ISOMER_CHECK(db.prepare());
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
    return fail("{}: not a profile database, or damaged ({})", name_, sqlite3_errmsg(db_.get()));
  return fail("{}: {}", name_, sqlite3_errmsg(db_.get()));
}

Status ProfileDb::execute(const char* sql) {
  if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failure();
  return {};
}

/// Makes the tables of a new file; refuses the file of another program or of a later version.
Status ProfileDb::prepare() {
  sqlite3_busy_timeout(db_.get(), kBusyMilliseconds);
  // In this journal mode, a crash of the machine may lose the last measurements, which does no harm, but never the
  // file.
  ISOMER_CHECK(execute("PRAGMA synchronous = NORMAL"));
  const auto number = [&](const char* sql) -> Result<int64_t> {
    Statement statement(db_.get(), sql);
    if (statement.step() != SQLITE_ROW) return failure();
    return statement.integer(0);
  };
  ISOMER_TRY(const int64_t tables, number("SELECT count(*) FROM sqlite_schema"));
  ISOMER_TRY(const int64_t application, number("PRAGMA application_id"));
  ISOMER_TRY(const int64_t schema, number("PRAGMA user_version"));
  if (application != kApplicationId && (tables > 0 || application != 0))
    return fail("{}: a database of another program", name_);
  if (schema > kSchemaVersion) return fail("{}: written by a later version of Isomer", name_);
  if (application == kApplicationId && schema == kSchemaVersion) return {};
  ISOMER_CHECK(write_ahead());
  // One transaction: of two processes that make the file at once, each sees a whole one.
  ISOMER_CHECK(execute("BEGIN IMMEDIATE"));
  ISOMER_CHECK(execute(kSchema));
  ISOMER_CHECK(execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kSchemaVersion).c_str()));
  return execute("COMMIT");
}

/// Of several that change the mode of a new file at once, SQLite refuses all but one at once, without its busy handler.
Status ProfileDb::write_ahead() {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyMilliseconds);
  for (;;) {
    const Status changed = execute("PRAGMA journal_mode = WAL");
    if (changed || sqlite3_errcode(db_.get()) != SQLITE_BUSY || std::chrono::steady_clock::now() > give_up)
      return changed;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Result<int64_t> ProfileDb::key_id(const ProfileKey& key) {
  Statement insert(db_.get(), "INSERT OR IGNORE INTO device (engine, version, processor, threads) VALUES (?, ?, ?, ?)");
  insert.bind(key.engine).bind(key.version).bind(key.processor).bind(int64_t{key.threads});
  if (insert.step() != SQLITE_DONE) return failure();
  Statement find(db_.get(), "SELECT id FROM device WHERE engine = ? AND version = ? AND processor = ? AND threads = ?");
  find.bind(key.engine).bind(key.version).bind(key.processor).bind(int64_t{key.threads});
  if (find.step() != SQLITE_ROW) return failure();
  return find.integer(0);
}

Result<std::vector<ProfiledDevice>> ProfileDb::devices() {
  Statement select(db_.get(), R"(
    SELECT engine, version, processor, threads, count(*) FROM device JOIN kernel ON device = id
    GROUP BY id ORDER BY 1, 2, 3, 4)");
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
  ISOMER_TRY(const int64_t device, key_id(key));
  std::vector<ProfiledKernel> times;
  Statement select(db_.get(), "SELECT signature, us, spread, runs FROM kernel WHERE device = ?");
  select.bind(device);
  int code = SQLITE_ROW;
  while ((code = select.step()) == SQLITE_ROW) {
    times.push_back({static_cast<uint64_t>(select.integer(0)),
                     {.us = select.real(1), .spread = select.real(2), .runs = static_cast<int>(select.integer(3))}});
  }
  if (code != SQLITE_DONE) return failure();
  return times;
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

Result<int64_t> ProfileDb::merge(const std::filesystem::path& other) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(other, error)) return fail("{}: no such file", other.string());
  // Opened by itself first, so that what is wrong with it is said of it.
  ISOMER_CHECK(open(other).map([](const ProfileDb&) {}));
  Statement attach(db_.get(), "ATTACH DATABASE ? AS other");
  if (attach.bind(other.string()).step() != SQLITE_DONE) return failure();
  const auto copy = [&]() -> Result<int64_t> {
    ISOMER_CHECK(execute(R"(
      INSERT OR IGNORE INTO device (engine, version, processor, threads)
        SELECT engine, version, processor, threads FROM other.device)"));
    ISOMER_CHECK(execute(R"(
      INSERT INTO kernel (device, signature, description, us, spread, runs)
        SELECT mine.id, k.signature, k.description, k.us, k.spread, k.runs
        FROM other.kernel k JOIN other.device theirs ON theirs.id = k.device
        JOIN device mine USING (engine, version, processor, threads) WHERE true
        ON CONFLICT (device, signature) DO UPDATE SET
          description = excluded.description, us = excluded.us, spread = excluded.spread, runs = excluded.runs
          WHERE excluded.runs > runs)"));
    return sqlite3_changes(db_.get());
  };
  Result<int64_t> changed = copy();
  ISOMER_CHECK(execute("DETACH DATABASE other"));
  return changed;
}

}  // namespace isomer
