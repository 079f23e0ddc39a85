#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/cli/testing.h"
#include "isomer/rules/lock.h"

namespace isomer {
namespace {

using testing::_;
using testing::ElementsAre;
using testing::Ne;
using testing::Pair;
using testing::StartsWith;

class RulesVerify : public testing::Test {
 protected:
  std::string path(const char* name) const { return (folder_.path() / name).string(); }

  /// Verifies these rules and writes the lock.
  Outcome verify(const std::string& rules) const {
    EXPECT_TRUE(write_file(path("own.rules"), rules).has_value());
    return isomer_program({"rules", "verify", "--rules", path("own.rules"), "--write", path("own.lock")});
  }

  /// Returns the name and hash of the rule in every line of the lock.
  std::vector<std::pair<std::string, uint64_t>> lines() const {
    std::vector<std::pair<std::string, uint64_t>> out;
    const Lock lock = parse_lock(read_file(path("own.lock")).value()).value();
    for (const LockEntry& entry : lock.entries) out.emplace_back(entry.name, entry.hash);
    return out;
  }

  const TempDir folder_ = TempDir::make().value();
};

constexpr const char* kRelus = "rule relus (Relu (Relu ?x)) => (Relu ?x)";
constexpr const char* kAbsolute = "rule absolute (Abs (Abs ?x)) => (Abs ?x)";
constexpr const char* kAnotherAbsolute = "rule absolute (Abs (Relu ?x)) => (Relu ?x)";

TEST_F(RulesVerify, WritesItsLinesAmongThoseThatThereAre) {
  ASSERT_EQ(verify(kRelus).exit_code, 0);
  const auto relus = lines();
  ASSERT_THAT(relus, ElementsAre(Pair("relus", _)));
  ASSERT_EQ(verify(kAbsolute).exit_code, 0);
  const auto both = lines();
  ASSERT_THAT(both, ElementsAre(Pair("absolute", _), relus[0])) << "sorted by name";
  ASSERT_EQ(verify(kAnotherAbsolute).exit_code, 0);
  EXPECT_THAT(lines(), ElementsAre(Pair("absolute", Ne(both[0].second)), relus[0]))
      << "a rule that has changed has one line";
}

TEST_F(RulesVerify, RefusesToWriteIntoWhatIsNoLock) {
  ASSERT_TRUE(write_file(path("own.lock"), "something else\n").has_value());
  const Outcome refused = verify(kRelus);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, StartsWith("isomer: " + path("own.lock") + ": line 1:"));
  EXPECT_EQ(read_file(path("own.lock")).value(), "something else\n");
}

}  // namespace
}  // namespace isomer
