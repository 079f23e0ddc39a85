#include "isomer/onnx/input_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"

namespace isomer {
namespace {

namespace fs = std::filesystem;
using testing::ExitedWithCode;
using testing::HasSubstr;
using testing::KilledBySignal;

constexpr size_t kBytes = size_t{1} << 20;

class InputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    ASSERT_TRUE(write_file(path_, std::string(kBytes, 'x')));
  }

  const TempDir folder_ = TempDir::make().value();
  const fs::path path_ = folder_.path() / "weights.data";
};

TEST_F(InputFileTest, LibrariesReadAndTakeNoSignal) {
  struct sigaction before {
  }, after{};
  sigaction(SIGBUS, nullptr, &before);
  const auto file = InputFile::open(path_, {}).value();
  EXPECT_TRUE(file->copies());
  EXPECT_EQ(file->size(), kBytes);
  const FileBytes some = file->bytes(10, 100).value();
  fs::resize_file(path_, 50);
  EXPECT_EQ(some.bytes.size(), 100U);
  EXPECT_EQ(some.bytes[99], std::byte{'x'}) << "it was read before";
  EXPECT_THAT(file->bytes(10, 100).error().message, HasSubstr("was truncated"));
  sigaction(SIGBUS, nullptr, &after);
  EXPECT_EQ(reinterpret_cast<void*>(before.sa_handler), reinterpret_cast<void*>(after.sa_handler));
}

/// Maps a file and changes it during use.
void use_mapped(const fs::path& path, void (*change)(const fs::path&)) {
  map_input_files();
  const auto other = InputFile::open("/proc/self/exe", {}).value();
  const auto file = InputFile::open(path, {}).value();
  const auto bytes = file->bytes(0, file->size()).value().bytes;
  change(path);
  const bool right = bytes[kBytes - 1] == std::byte{'x'};
  _exit(right ? 0 : 1);
}

TEST_F(InputFileTest, ProgramsEndWithAMessageWhenAMappedFileIsTruncated) {
  EXPECT_EXIT(use_mapped(path_, [](const fs::path& path) { fs::resize_file(path, 5000); }), ExitedWithCode(2),
              "^isomer: .*weights.data: was truncated, or could not be read, while it was in use\n$");
}

TEST_F(InputFileTest, AMappedFileThatIsReplacedStays) {
  EXPECT_EXIT(use_mapped(path_, [](const fs::path& path) { ASSERT_TRUE(write_file(path, "short")); }),
              ExitedWithCode(0), "");
}

TEST_F(InputFileTest, OtherBusErrorsKillAsEver) {
  const auto use_own_mapping = [&] {
    map_input_files();
    { const auto closed = InputFile::open(path_, {}).value(); }
    const int descriptor = ::open(path_.c_str(), O_RDONLY);
    const auto* bytes = static_cast<const char*>(mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, descriptor, 0));
    fs::resize_file(path_, 0);
    _exit(bytes[kBytes - 1] == 'x' ? 0 : 1);
  };
  EXPECT_EXIT(use_own_mapping(), KilledBySignal(SIGBUS), "^$");
}

}  // namespace
}  // namespace isomer
