#include "isomer/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isomer {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class File : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  const fs::path folder_ = fs::path(testing::TempDir()) / "isomer_file_test";
};

TEST_F(File, WritesReadsAndReplaces) {
  const fs::path path = folder_ / "a.txt";
  const std::string bytes("one\0two", 7);
  ASSERT_TRUE(write_file(path, "first").has_value());
  ASSERT_TRUE(write_file(path, bytes).has_value());
  EXPECT_EQ(read_file(path).value(), bytes);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1) << "a temporary file stayed";
}

TEST_F(File, ErrorsNameTheFile) {
  EXPECT_THAT(read_file(folder_ / "none").error().message, HasSubstr("none: No such file"));
  EXPECT_THAT(read_file(folder_).error().message, HasSubstr("is a folder"));
  EXPECT_THAT(write_file(folder_ / "no" / "x", "1").error().message, HasSubstr("x: cannot be created: No such file"));
  fs::create_directories(folder_ / "folder");
  EXPECT_FALSE(write_file(folder_ / "folder", "1").has_value());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1) << "a temporary file stayed";
}

}  // namespace
}  // namespace isomer
