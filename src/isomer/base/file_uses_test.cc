#include "isomer/base/file_uses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"

namespace isomer {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FileUsesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(write_file(file("a"), "a"));
    ASSERT_TRUE(write_file(file("b"), "b"));
    fs::create_directory(file("folder"));
    fs::create_directory_symlink(file("folder"), file("same folder"));
    fs::create_symlink("a", file("link"));
    fs::create_symlink("new", file("dangling"));
    fs::create_hard_link(file("a"), file("hard"));
  }
  fs::path file(const std::string& name) const { return folder_.path() / name; }

  const TempDir folder_ = TempDir::make().value();
};

std::string failure(const Status& status) { return status ? "" : status.error().message; }

TEST_F(FileUsesTest, SameFilesAreFoundByWhateverName) {
  for (const char* name : {"a", "./a", "folder/../a", "link", "hard"}) {
    EXPECT_TRUE(same_file(file("a"), file(name))) << name;
    EXPECT_FALSE(same_file(file("b"), file(name))) << name;
    EXPECT_FALSE(same_file(file("new"), file(name))) << name;
  }
  for (const char* name : {"new", "./new", "folder/../new", "dangling"})
    EXPECT_TRUE(same_file(file("new"), file(name))) << name << ", which does not exist";
  EXPECT_TRUE(same_file(file("folder/new"), file("same folder/new")));
  EXPECT_FALSE(same_file(file("folder/new"), file("new")));
  EXPECT_FALSE(same_file("/dev/null", "/dev/null")) << "it cannot be destroyed";
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(same_file(file("pipe"), file("pipe")));
}

TEST_F(FileUsesTest, NoOutputIsAnotherFile) {
  const auto pair = [&](void (*first)(FileUses&, const fs::path&), void (*second)(FileUses&, const fs::path&)) {
    FileUses uses;
    first(uses, file("a"));
    second(uses, file("link"));
    return failure(uses.check());
  };
  const auto read = [](FileUses& uses, const fs::path& path) { uses.reads("IN", path); };
  const auto write = [](FileUses& uses, const fs::path& path) { uses.writes("OUT", path); };
  const auto update = [](FileUses& uses, const fs::path& path) { uses.updates("DB", path); };
  EXPECT_EQ(pair(read, read), "");
  EXPECT_THAT(pair(read, write), HasSubstr("is an input (IN), which OUT would overwrite"));
  EXPECT_THAT(pair(write, read), HasSubstr("is an input (IN), which OUT would overwrite"));
  EXPECT_THAT(pair(write, write), HasSubstr("OUT and OUT are the same file"));
  EXPECT_THAT(pair(update, update), HasSubstr("the same file"));
  EXPECT_THAT(pair(read, update), HasSubstr("IN and DB are the same file"));
  EXPECT_THAT(pair(update, write), HasSubstr("DB and OUT are the same file"));
}

TEST_F(FileUsesTest, ForceAllowsAnInputAndNoSecondOutput) {
  FileUses uses;
  uses.reads("IN", file("a"));
  uses.writes("-o", file("a"), false, "give --force");
  EXPECT_THAT(failure(uses.check()), HasSubstr("would overwrite; give --force to allow it"));
  FileUses forced;
  forced.reads("IN", file("a"));
  forced.writes("-o", file("a"), true, "give --force");
  forced.writes("--report", "");
  EXPECT_EQ(failure(forced.check()), "");
  FileUses more;
  more.writes("--report", file("a"));
  forced.add(more);
  EXPECT_THAT(failure(forced.check()), HasSubstr("--report"));
}

TEST_F(FileUsesTest, NoOutputIsNamedLikeStandardOutput) {
  FileUses written, updated, others;
  written.writes("--report", "-");
  EXPECT_THAT(failure(written.check()), HasSubstr("--report: '-' is ambiguous; give ./- "));
  updated.updates("--write", "-");
  EXPECT_THAT(failure(updated.check()), HasSubstr("--write: '-' is ambiguous"));
  others.reads("IN", "-");
  others.writes("OUT", "./-x");
  others.writes("--report", file("-"));
  EXPECT_EQ(failure(others.check()), "");
}

TEST_F(FileUsesTest, OutputsThatCannotBeCreatedAreRefused) {
  FileUses uses;
  uses.writes("--report", file("none") / "report.json");
  EXPECT_THAT(failure(uses.writable()), HasSubstr("none/report.json: "));
  FileUses folder;
  folder.writes("--report", file("none").parent_path());
  EXPECT_NE(failure(folder.writable()), "");
  FileUses fine;
  fine.writes("--report", file("new"));
  fine.writes("--csv", "/dev/null");
  EXPECT_EQ(failure(fine.writable()), "");
  EXPECT_FALSE(fs::exists(file("new")));
}

TEST_F(FileUsesTest, InputsThatChangeAreNamed) {
  const auto after = [&](const std::function<void()>& change) {
    FileUses uses;
    uses.reads("IN", file("link"));
    uses.reads("IN", "/dev/null");
    uses.updates("DB", file("b"));
    EXPECT_EQ(failure(uses.unchanged()), "");
    change();
    return failure(uses.unchanged());
  };
  EXPECT_EQ(after([&] { ASSERT_TRUE(write_file(file("b"), "other")); }), "");
  EXPECT_THAT(after([&] { fs::resize_file(file("a"), 0); }), HasSubstr("link: has changed"));
  EXPECT_THAT(after([&] { ASSERT_TRUE(write_file(file("a"), "")); }), HasSubstr("has changed")) << "another file";
  const auto now = fs::last_write_time(file("a"));
  EXPECT_THAT(after([&] { fs::last_write_time(file("a"), now + std::chrono::seconds(1)); }), HasSubstr("has changed"));
  EXPECT_THAT(after([&] { fs::remove(file("a")); }), HasSubstr("has changed"));
}

}  // namespace
}  // namespace isomer
