#include "isomer/base/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"

namespace isomer {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OutputFileTest : public testing::Test {
 protected:
  fs::path file(const char* name) const { return folder_.path() / name; }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  const TempDir folder_ = TempDir::make().value();
};

std::string message_of(const Status& status) { return status ? "" : status.error().message; }

TEST_F(OutputFileTest, LinksAreFollowedAndStay) {
  fs::create_directory(file("folder"));
  ASSERT_TRUE(write_file(file("folder/target"), "old"));
  fs::create_symlink("folder/target", file("link"));
  fs::create_symlink("link", file("chain"));
  for (const char* link : {"link", "chain"}) {
    ASSERT_TRUE(write_file(file(link), link));
    EXPECT_TRUE(fs::is_symlink(file(link)));
    EXPECT_EQ(read_file(file("folder/target")).value(), link);
  }
  fs::create_symlink("folder/new", file("dangling"));
  ASSERT_TRUE(write_file(file("dangling"), "made"));
  EXPECT_TRUE(fs::is_symlink(file("dangling")));
  EXPECT_EQ(read_file(file("folder/new")).value(), "made");
  fs::create_symlink("b", file("a"));
  fs::create_symlink("a", file("b"));
  EXPECT_THAT(message_of(write_file(file("a"), "x")), HasSubstr("too many symbolic links"));
  EXPECT_EQ(files(), 6U) << "a temporary file stayed";
}

TEST_F(OutputFileTest, ARegularFileIsReplacedAsAWhole) {
  ASSERT_TRUE(write_file(file("a"), "old"));
  fs::permissions(file("a"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_hard_link(file("a"), file("other name"));
  {
    auto half = OutputFile::open(file("a"));
    ASSERT_TRUE(half && half->write(std::as_bytes(std::span("half", 4))));
    EXPECT_EQ(read_file(file("a")).value(), "old");
  }
  EXPECT_EQ(read_file(file("a")).value(), "old") << "it was not committed";
  ASSERT_TRUE(write_file(file("a"), "new"));
  EXPECT_EQ(fs::status(file("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(read_file(file("other name")).value(), "old");
  EXPECT_EQ(files(), 2U) << "a temporary file stayed";
}

TEST(OutputFileOnQuit, TheTemporaryFileIsRemoved) {
  // Not in a TempDir, which run_on_quit() would also remove.
  const std::string path = fmt::format("{}isomer-output-{}", testing::TempDir(), ::getpid());
  const auto is_ours = [&](const fs::directory_entry& entry) { return entry.path().string().starts_with(path); };
  const auto files = [&] { return std::ranges::count_if(fs::directory_iterator(testing::TempDir()), is_ours); };
  const auto file = OutputFile::open(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(files(), 1);
  run_on_quit();
  EXPECT_EQ(files(), 0);
}

TEST_F(OutputFileTest, DevicesAreWrittenTo) {
  // Only root may make a device, and a test must not put the machine's own devices at risk.
  if (::mknod(file("null").c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0) GTEST_SKIP() << "not allowed to make a device";
  fs::create_symlink("null", file("link"));
  for (const char* name : {"null", "link"}) {
    const Status written = write_file(file(name), "x");
    // The file system may be mounted without devices.
    if (!written) {
      EXPECT_THAT(written.error().message, HasSubstr("Permission denied"));
    }
    EXPECT_TRUE(fs::is_character_file(file(name)));
  }
  EXPECT_EQ(files(), 2U);
}

TEST_F(OutputFileTest, AFullDeviceIsAnError) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  EXPECT_THAT(message_of(write_file("/dev/full", "x")), HasSubstr("/dev/full: cannot be written: No space left"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(OutputFileTest, PipesAreWrittenTo) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_file(file("pipe")).value(); });
  EXPECT_EQ(message_of(write_file(file("pipe"), "through")), "");
  reader.join();
  EXPECT_EQ(got, "through");
  EXPECT_TRUE(fs::is_fifo(file("pipe")));
}

TEST_F(OutputFileTest, APipeThatNobodyReadsIsAnErrorAndNoSignal) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  const int reader = ::open(file("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  auto pipe = OutputFile::open(file("pipe"));
  ASSERT_TRUE(pipe.has_value());
  ::close(reader);
  EXPECT_THAT(message_of(pipe->write(std::as_bytes(std::span("x", 1)))), HasSubstr("Broken pipe"));
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST_F(OutputFileTest, OpenFilesOfTheProcessGoOnWhereTheyAre) {
  const int log = ::open(file("log").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(::write(log, "first ", 6), 6);
  for (const char* folder : {"/dev/fd/", "/proc/self/fd/"}) {
    const fs::path name = folder + std::to_string(log);
    EXPECT_EQ(message_of(write_file(name, "next ")), "");
    EXPECT_TRUE(OutputFile::open(name)->is_stream());
  }
  fs::create_symlink("/dev/fd/" + std::to_string(log), file("link"));
  EXPECT_EQ(message_of(write_file(file("link"), "last")), "");
  ::close(log);
  EXPECT_EQ(read_file(file("log")).value(), "first next next last");
  EXPECT_THAT(message_of(write_file("/dev/fd/987654", "x")), HasSubstr("cannot be opened: Bad file descriptor"));
  EXPECT_THAT(message_of(write_file("/dev/fd/x", "x")), HasSubstr("/dev/fd/x: cannot be"));
}

}  // namespace
}  // namespace isomer
