#include "isomer/discover/pass_log.h"

#include <gtest/gtest.h>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/discover/builtin.h"

namespace isomer {
namespace {

PassResult some(uint64_t n) {
  PassResult out{n, n + 1, {}};
  for (uint64_t i = 0; i < n; ++i) out.equal.push_back({TermCode::from_bits(i), TermCode::from_bits(n + i)});
  return out;
}

class PassLogTest : public testing::Test {
 protected:
  PassLog open(uint64_t key = 7) const { return PassLog::open(path_, key).value(); }

  TempDir folder_ = TempDir::make().value();
  std::filesystem::path path_ = folder_.path() / "passes";
};

TEST_F(PassLogTest, RemembersFinishedPasses) {
  PassLog first = open();
  for (uint64_t pass = 0; pass < 3; ++pass) first.run(pass, [&] { return some(pass); });
  EXPECT_TRUE(first.status().has_value());
  PassLog second = open();
  ASSERT_EQ(second.finished(), 3U);
  const PassResult known = second.run(2, []() -> PassResult {
    ADD_FAILURE() << "pass 2 is finished";
    return {};
  });
  EXPECT_EQ(known.equal, some(2).equal);
  EXPECT_EQ(known.values, 3U);
}

TEST_F(PassLogTest, DoesHalfAPassAgain) {
  PassLog first = open();
  for (uint64_t pass = 0; pass < 2; ++pass) first.run(pass, [&] { return some(9); });
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 20);
  PassLog second = open();
  EXPECT_EQ(second.finished(), 1U);
  second.run(1, [] { return some(9); });
  EXPECT_EQ(open().finished(), 2U);
}

TEST_F(PassLogTest, RefusesAnotherEnumeration) {
  PassLog first = open(7);
  first.run(0, [] { return some(1); });
  EXPECT_FALSE(PassLog::open(path_, 8).has_value());
  const Universe universe = load_universe("matrix").value()[0];
  EXPECT_NE(enumeration_key(universe, 3, 2), enumeration_key(universe, 3, 3));
  EXPECT_NE(enumeration_key(universe, 3, 2), enumeration_key(load_universe("matrix").value()[1], 3, 2));
}

}  // namespace
}  // namespace isomer
