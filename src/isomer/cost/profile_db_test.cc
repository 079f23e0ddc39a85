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
  EXPECT_EQ(db.merge(file("other.db")).value(), 3);
  EXPECT_EQ(times(db), (std::map<uint64_t, double>{{1, 10}, {2, 2}, {3, 30}}));
  EXPECT_EQ(times(db, {"own", "1", "p", 4}), (std::map<uint64_t, double>{{9, 90}}));
  EXPECT_EQ(db.merge(file("other.db")).value(), 0) << "again";
  const auto missing = db.merge(file("none.db"));
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message, HasSubstr("none.db"));
  EXPECT_FALSE(std::filesystem::exists(file("none.db")));
}

TEST_F(ProfileDbTest, DamagedAndForeignFilesAreRefused) {
  ASSERT_TRUE(write_file(file("text"), std::string(4096, 'x')).has_value());
  EXPECT_THAT(refusal(file("text")), HasSubstr("not a profile database, or damaged"));
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
  EXPECT_THAT(refusal(file("damaged")), HasSubstr("damaged"));
  EXPECT_THAT(refusal(folder_.path() / "no" / "folder"), HasSubstr("unable to open"));
  ProfileDb db = open("");
  EXPECT_THAT(db.merge(file("text")).error().message, HasSubstr("text: not a profile database"));
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
