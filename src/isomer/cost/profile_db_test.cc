#include "isomer/cost/profile_db.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <thread>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"

namespace isomer {
namespace {

using testing::HasSubstr;

const ProfileKey kKey{"ort", "1.30", "a processor", 1};

class ProfileDbTest : public testing::Test {
 protected:
  std::filesystem::path file(const char* name) const { return folder_.path() / name; }
  static ProfileDb open(const std::filesystem::path& path) {
    auto db = ProfileDb::open(path);
    if (!db) throw std::runtime_error(db.error().message);
    return std::move(*db);
  }
  static std::map<uint64_t, double> times(ProfileDb& db, const ProfileKey& key = kKey) {
    std::map<uint64_t, double> us;
    const auto loaded = db.load(key).value();
    for (const ProfiledKernel& kernel : loaded) us[kernel.signature] = kernel.time.us;
    return us;
  }
  static std::string refusal(const std::filesystem::path& path) {
    auto db = ProfileDb::open(path);
    return db ? "(opened)" : db.error().message;
  }

  /// Returns how many kernels were imported from each file, or the error.
  std::string merged(ProfileDb& db, const std::vector<std::string>& names) const {
    std::vector<std::filesystem::path> others;
    for (const std::string& name : names) others.push_back(folder_.path() / name);
    const auto taken = db.merge(others);
    return taken ? fmt::format("{}", fmt::join(*taken, " ")) : taken.error().message;
  }
  static void change(const std::filesystem::path& path, const std::string& sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
    sqlite3_close(db);
  }

  const TempDir folder_ = TempDir::make().value();
};

constexpr uint64_t kHigh = 0xfedcba9876543210;

TEST_F(ProfileDbTest, KeepsMeasurementsFromRunToRun) {
  {
    ProfileDb db = open(file("p.db"));
    ASSERT_TRUE(db.store(kKey, kHigh, {.us = 12.5, .spread = 0.25, .runs = 40}, "Conv").has_value());
    ASSERT_TRUE(db.store(kKey, 7, {.us = 1, .runs = 2}, "Relu").has_value());
    ASSERT_TRUE(db.store(kKey, 7, {.us = 2, .runs = 3}, "Relu").has_value());
  }
  ProfileDb db = open(file("p.db"));
  EXPECT_EQ(times(db), (std::map<uint64_t, double>{{kHigh, 12.5}, {7, 2}}));
  const auto all = db.load(kKey).value();
  const auto high = std::find_if(all.begin(), all.end(), [](const auto& one) { return one.signature == kHigh; });
  EXPECT_EQ(high->time.spread, 0.25);
  EXPECT_EQ(high->time.runs, 40);
}

TEST_F(ProfileDbTest, ALockedOneHasTheMeasurementsOfTheOnlyDeviceThatIsAlike) {
  ProfileKey other = kKey;
  other.processor = "another processor";
  ProfileKey more_threads = kKey;
  more_threads.threads = 2;
  {
    ProfileDb db = open(file("p.db"));
    ASSERT_TRUE(db.store(other, 7, {.us = 3, .runs = 1}, "Relu").has_value());
    EXPECT_EQ(db.resolve(kKey).value(), kKey) << "one that is not locked measures here";
  }
  const std::string closed = read_file(file("p.db")).value();
  {
    ProfileDb locked = ProfileDb::open_locked(file("p.db")).value();
    EXPECT_EQ(locked.resolve(kKey).value(), other);
    EXPECT_THAT(locked.resolve(more_threads).error().message, HasSubstr("has no kernels of "));
    EXPECT_TRUE(locked.load(kKey).value().empty());
    locked.miss("Conv");
    EXPECT_EQ(locked.missed(), (std::set<std::string>{"Conv"}));
  }
  EXPECT_TRUE(read_file(file("p.db")).value() == closed) << "it stays as it is";
  for (const char* suffix : {"-wal", "-shm"})
    EXPECT_FALSE(std::filesystem::exists(file("p.db").string() + suffix)) << "no file is needed next to it";
  ProfileKey newer = kKey;
  newer.version = "9.9";
  EXPECT_THAT(ProfileDb::open_locked(file("p.db"))->resolve(newer).error().message, HasSubstr("9.9"));
  {
    ProfileDb db = open(file("p.db"));
    ASSERT_TRUE(db.store(kKey, 7, {.us = 1, .runs = 1}, "Relu").has_value());
  }
  EXPECT_EQ(ProfileDb::open_locked(file("p.db"))->resolve(kKey).value(), kKey) << "its own come first";
  ProfileKey third = kKey;
  third.processor = "a third processor";
  EXPECT_THAT(ProfileDb::open_locked(file("p.db"))->resolve(third).error().message, HasSubstr("of 2 processors"));
  EXPECT_FALSE(ProfileDb::open_locked(file("none.db")).has_value());
}

TEST_F(ProfileDbTest, EnginesVersionsProcessorsAndThreadsAreKeptApart) {
  ProfileDb db = open("");
  ASSERT_TRUE(db.store(kKey, 1, {.us = 5}, "").has_value());
  for (const ProfileKey& other :
       {ProfileKey{"own", "1.30", "a processor", 1}, ProfileKey{"ort", "1.31", "a processor", 1},
        ProfileKey{"ort", "1.30", "another", 1}, ProfileKey{"ort", "1.30", "a processor", 2}}) {
    EXPECT_TRUE(times(db, other).empty());
  }
  EXPECT_EQ(times(db).size(), 1);
}

TEST_F(ProfileDbTest, MergesOtherFiles) {
  {
    ProfileDb other = open(file("other.db"));
    ASSERT_TRUE(other.store({"own", "1", "p", 4}, 9, {.us = 90, .runs = 1}, "first device here").has_value());
    ASSERT_TRUE(other.store(kKey, 1, {.us = 10, .runs = 5}, "more runs").has_value());
    ASSERT_TRUE(other.store(kKey, 2, {.us = 20, .runs = 5}, "fewer runs").has_value());
    ASSERT_TRUE(other.store(kKey, 3, {.us = 30, .runs = 5}, "new").has_value());
  }
  ProfileDb db = open(file("p.db"));
  ASSERT_TRUE(db.store(kKey, 1, {.us = 1, .runs = 4}, "").has_value());
  ASSERT_TRUE(db.store(kKey, 2, {.us = 2, .runs = 6}, "").has_value());
  EXPECT_EQ(merged(db, {"other.db"}), "3");
  EXPECT_EQ(times(db), (std::map<uint64_t, double>{{1, 10}, {2, 2}, {3, 30}}));
  EXPECT_EQ(times(db, {"own", "1", "p", 4}), (std::map<uint64_t, double>{{9, 90}}));
  EXPECT_EQ(merged(db, {"other.db"}), "0") << "again";
  EXPECT_THAT(merged(db, {"none.db"}), HasSubstr("none.db: no such profile database"));
  EXPECT_FALSE(std::filesystem::exists(file("none.db")));
}

TEST_F(ProfileDbTest, DamagedAndForeignFilesAreRefused) {
  ASSERT_TRUE(write_file(file("text"), std::string(4096, 'x')).has_value());
  EXPECT_THAT(refusal(file("text")), HasSubstr("not a profile database, or corrupt"));
  sqlite3* foreign = nullptr;
  ASSERT_EQ(sqlite3_open(file("foreign").c_str(), &foreign), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(foreign, "CREATE TABLE t (x)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(foreign);
  EXPECT_THAT(refusal(file("foreign")), HasSubstr("another program"));
  {
    ProfileDb db = open(file("p.db"));
    ASSERT_TRUE(db.store(kKey, 1, {.us = 1}, "").has_value());
  }
  std::string bytes = read_file(file("p.db")).value();
  for (size_t i = 100; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  ASSERT_TRUE(write_file(file("damaged"), bytes).has_value());
  EXPECT_THAT(refusal(file("damaged")), HasSubstr("corrupt"));
  EXPECT_THAT(refusal(folder_.path() / "no" / "folder"), HasSubstr("unable to open"));
  ProfileDb db = open("");
  EXPECT_THAT(merged(db, {"text"}), HasSubstr("text: not a profile database"));
  EXPECT_THAT(refusal("/dev/null"), HasSubstr("/dev/null: is not a regular file"));
}

TEST_F(ProfileDbTest, AnEmptyFileIsMergedFromByNobodyAndStaysEmpty) {
  ASSERT_TRUE(write_file(file("empty"), "").has_value());
  ProfileDb db = open("");
  EXPECT_THAT(merged(db, {"empty"}), HasSubstr("empty: not a profile database"));
  EXPECT_EQ(std::filesystem::file_size(file("empty")), 0U);
}

/// Invalid measurements: values for the column "us", "spread" or "runs".
const std::vector<std::pair<std::string, std::string>> kNoMeasurements = {{"us", "-1e9"},
                                                                          {"us", "'fast'"},
                                                                          {"us", "9e999"},
                                                                          {"us", "1e12"},
                                                                          {"us", "1e-300"},
                                                                          {"us", "x'00'"},
                                                                          {"spread", "-1"},
                                                                          {"spread", "'x'"},
                                                                          {"spread", "-9e999"},
                                                                          {"spread", "1e12"},
                                                                          {"runs", "-1"},
                                                                          {"runs", "'many'"},
                                                                          {"runs", "9223372036854775807"}};

TEST_F(ProfileDbTest, MergingIsAllOrNothingAndChecksEveryRow) {
  {
    ProfileDb good = open(file("good.db"));
    ASSERT_TRUE(good.store(kKey, 1, {.us = 10, .runs = 5}, "Conv").has_value());
    ProfileDb db = open(file("p.db"));
    ASSERT_TRUE(db.store(kKey, 1, {.us = 1, .runs = 1}, "Conv").has_value());
  }
  for (const auto& [column, value] : kNoMeasurements) {
    std::filesystem::remove(file("bad.db"));
    {
      ProfileDb bad = open(file("bad.db"));
      ASSERT_TRUE(bad.store(kKey, 7, {.us = 3, .runs = 9}, "Relu").has_value());
      ASSERT_TRUE(bad.store(kKey, 8, {.us = 3, .runs = 9}, "Tanh").has_value());
    }
    change(file("bad.db"), fmt::format("UPDATE kernel SET {} = {} WHERE signature = 8", column, value));
    ProfileDb db = open(file("p.db"));
    EXPECT_THAT(merged(db, {"good.db", "bad.db"}), HasSubstr("bad.db: corrupt: 'Tanh'")) << column << " = " << value;
    EXPECT_EQ(times(db), (std::map<uint64_t, double>{{1, 1}})) << column << " = " << value;
  }
  ProfileDb db = open(file("p.db"));
  EXPECT_EQ(merged(db, {"good.db"}), "1");
}

TEST_F(ProfileDbTest, ADamagedFileIsNamedAndChangesNothing) {
  {
    ProfileDb bad = open(file("bad.db"));
    for (uint64_t i = 0; i < 2000; ++i)
      ASSERT_TRUE(bad.store(kKey, i, {.us = 3, .runs = 9}, "a kernel with a long description").has_value());
  }
  std::string bytes = read_file(file("bad.db")).value();
  const size_t page = 4096;
  ASSERT_GT(bytes.size(), 10 * page);
  for (size_t i = bytes.size() - 2 * page; i < bytes.size() - page; ++i) bytes[i] = static_cast<char>(0xff);
  ASSERT_TRUE(write_file(file("bad.db"), bytes).has_value());
  ProfileDb db = open(file("p.db"));
  const std::string error = merged(db, {"bad.db"});
  EXPECT_THAT(error, HasSubstr("bad.db: "));
  EXPECT_THAT(error, HasSubstr("corrupt"));
  EXPECT_TRUE(times(db).empty());
}

TEST_F(ProfileDbTest, RowsThatAreNoMeasurementsAreMeasuredAgain) {
  for (const auto& [column, value] : kNoMeasurements) {
    std::filesystem::remove(file("p.db"));
    {
      ProfileDb db = open(file("p.db"));
      ASSERT_TRUE(db.store(kKey, 1, {.us = 1, .runs = 1}, "Conv").has_value());
      ASSERT_TRUE(db.store(kKey, 2, {.us = 2, .runs = 9}, "Relu").has_value());
    }
    change(file("p.db"), fmt::format("UPDATE kernel SET {} = {} WHERE signature = 2", column, value));
    ProfileDb db = open(file("p.db"));
    EXPECT_EQ(times(db), (std::map<uint64_t, double>{{1, 1}})) << column << " = " << value;
    EXPECT_EQ(db.devices().value().front().kernels, 1);
    {
      ProfileDb other = open(file("other.db"));
      ASSERT_TRUE(other.store(kKey, 2, {.us = 5, .runs = 1}, "Relu").has_value());
    }
    EXPECT_EQ(merged(db, {"other.db"}), "1") << "although it has fewer runs";
    ASSERT_TRUE(db.store(kKey, 2, {.us = 4, .runs = 3}, "Relu").has_value());
    EXPECT_EQ(times(db), (std::map<uint64_t, double>{{1, 1}, {2, 4}}));
  }
}

TEST_F(ProfileDbTest, SeveralMakeAFileAtOnce) {
  for (int file_number = 0; file_number < 50; ++file_number) {
    const std::string name = fmt::format("new-{}.db", file_number);
    std::vector<std::string> errors(8);
    std::vector<std::thread> makers;
    for (std::string& error : errors) {
      makers.emplace_back([&] {
        const auto db = ProfileDb::open(file(name.c_str()));
        if (!db) error = db.error().message;
      });
    }
    for (std::thread& maker : makers) maker.join();
    EXPECT_THAT(errors, testing::Each(""));
  }
}

TEST_F(ProfileDbTest, SeveralWritersShareAFile) {
  std::vector<std::thread> writers;
  for (uint64_t writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      ProfileDb db = open(file("shared.db"));
      for (uint64_t i = 0; i < 25; ++i)
        ASSERT_TRUE(db.store(kKey, writer * 100 + i, {.us = static_cast<double>(i)}, "").has_value());
    });
  }
  for (std::thread& writer : writers) writer.join();
  ProfileDb db = open(file("shared.db"));
  EXPECT_EQ(times(db).size(), 100);
}

}  // namespace
}  // namespace isomer
