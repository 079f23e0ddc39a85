#include "isomer/base/digest.h"

#include <gtest/gtest.h>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"

namespace isomer {
namespace {

TEST(Digest, OfAFileIsThatOfItsBytes) {
  const TempDir folder = TempDir::make().value();
  const auto path = folder.path() / "file";
  std::string text(3'000'000, 'x');  // larger than one chunk
  ASSERT_TRUE(write_file(path, text).has_value());
  const auto before = file_digest(path);
  ASSERT_TRUE(before.has_value()) << before.error().message;
  EXPECT_EQ(before->bytes, text.size());
  EXPECT_EQ(before->digest, text_digest(text));
  text[2'999'999] = 'y';
  EXPECT_NE(before->digest, text_digest(text));
}

TEST(Digest, IsWhatOtherProgramsPrint) {
  // `printf '' | xxhsum -H128`
  EXPECT_EQ(text_digest(""), "xxh128:99aa06d3014798d86001c324468d497f");
}

TEST(Digest, NamesAFileThatIsNotThere) {
  const auto missing = file_digest("/no/such/file");
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(missing.error().message.find("/no/such/file"), std::string::npos);
}

}  // namespace
}  // namespace isomer
