#include "isomer/base/temp_dir.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>

namespace isomer {
namespace {

namespace fs = std::filesystem;

class TempDirTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* set = std::getenv("TMPDIR")) before_ = set;
    fs::create_directories(base_);
    ::setenv("TMPDIR", base_.c_str(), 1);
  }
  void TearDown() override {
    before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1);
    fs::remove_all(base_);
  }

  std::set<fs::path> there() const { return {fs::directory_iterator(base_), fs::directory_iterator()}; }

  /// Returns a folder with a file, made by another process that lives until `release` closes the pipe.
  fs::path made_by(pid_t& pid, int& release) const {
    int to_child[2];
    int from_child[2];
    if (::pipe(to_child) != 0 || ::pipe(from_child) != 0) return {};
    pid = ::fork();
    if (pid == 0) {
      ::close(to_child[1]);
      const TempDir folder = TempDir::make().value();
      std::ofstream(folder.path() / "candidate.onnx") << "bytes";
      const std::string path = folder.path().string();
      char end = 0;
      if (::write(from_child[1], path.data(), path.size()) > 0 && ::read(to_child[0], &end, 1) >= 0) ::_exit(0);
      ::_exit(1);
    }
    ::close(to_child[0]);
    ::close(from_child[1]);
    char path[4096];
    const ssize_t size = ::read(from_child[0], path, sizeof path);
    ::close(from_child[0]);
    release = to_child[1];
    return std::string(path, static_cast<size_t>(std::max<ssize_t>(size, 0)));
  }

  fs::path base_ = fs::path(testing::TempDir()) / fmt::format("temp_dir_test_{}", ::getpid());
  std::string before_;
};

TEST_F(TempDirTest, GoesAwayWithTheObject) {
  {
    const TempDir folder = TempDir::make().value();
    std::ofstream(folder.path() / "file") << "bytes";
    EXPECT_EQ(there(), std::set{folder.path()});
  }
  EXPECT_TRUE(there().empty());
}

TEST_F(TempDirTest, FolderOfADeadProcessIsRemovedAndThatOfALivingOneStays) {
  pid_t pid = 0;
  int release = -1;
  const fs::path folder = made_by(pid, release);
  ASSERT_TRUE(fs::exists(folder / "candidate.onnx"));
  { const TempDir own = TempDir::make().value(); }
  EXPECT_TRUE(fs::exists(folder / "candidate.onnx")) << "its owner lives";
  ::close(release);
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  ASSERT_TRUE(fs::exists(folder)) << "it ended without destructors";
  { const TempDir own = TempDir::make().value(); }
  EXPECT_TRUE(there().empty());
}

TEST_F(TempDirTest, AMissingFolderIsNamed) {
  ::setenv("TMPDIR", "/nonexistent/folder", 1);
  const auto made = TempDir::make();
  ASSERT_FALSE(made.has_value());
  EXPECT_NE(made.error().message.find("/nonexistent/folder"), std::string::npos) << made.error().message;
}

TEST_F(TempDirTest, OwnFoldersStay) {
  const TempDir first = TempDir::make().value();
  const TempDir second = TempDir::make().value();
  EXPECT_EQ(there(), (std::set{first.path(), second.path()}));
}

TEST_F(TempDirTest, NothingElseIsRemoved) {
  const fs::path kept = base_ / "kept";
  fs::create_directories(kept / "inner");
  fs::create_directory_symlink(kept, base_ / "isomer-temporary-linked");
  std::ofstream(base_ / "isomer-temporary-afiles") << "bytes";
  // Folders of the user with similar names, or with a matching name but open to others.
  for (const char* name : {"isomer-other", "isomer-temporary-results", "isomer-temporary-my_own"}) {
    fs::create_directories(base_ / name);
    fs::permissions(base_ / name, fs::perms::owner_all);
  }
  fs::create_directories(base_ / "isomer-temporary-public");
  fs::permissions(base_ / "isomer-temporary-public", fs::perms::owner_all | fs::perms::others_read);
  const auto before = there();
  { const TempDir own = TempDir::make().value(); }
  EXPECT_EQ(there(), before);
  EXPECT_TRUE(fs::exists(kept / "inner"));
}

TEST_F(TempDirTest, QuittingRemovesIt) {
  const TempDir folder = TempDir::make().value();
  std::ofstream(folder.path() / "file") << "bytes";
  run_on_quit();
  EXPECT_TRUE(there().empty());
}

}  // namespace
}  // namespace isomer
