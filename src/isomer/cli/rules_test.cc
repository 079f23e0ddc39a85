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
using testing::HasSubstr;
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

constexpr const char* kFamily =
    "# {F}({F}(x)) = {F}(x)\n"
    "rule drop-{F}\n"
    "  for F in Relu, Neg\n"
    "  (F (F ?x))\n"
    "  => (F ?x)\n";

TEST_F(RulesVerify, EveryRuleOfAFamilyHasItsOwnVerdict) {
  const Outcome verified = verify(kFamily);
  EXPECT_EQ(verified.exit_code, 1) << "-(-x) is not -x";
  const Lock lock = parse_lock(read_file(path("own.lock")).value()).value();
  std::vector<std::pair<std::string, Verdict>> verdicts;
  for (const LockEntry& entry : lock.entries) verdicts.emplace_back(entry.name, entry.verdict);
  EXPECT_THAT(verdicts, ElementsAre(Pair("drop-neg", Verdict::Refuted), Pair("drop-relu", Verdict::Proved)));
}

TEST_F(RulesVerify, FamiliesAreListedAndShown) {
  ASSERT_TRUE(write_file(path("own.rules"), kFamily).has_value());
  const auto listed =
      nlohmann::json::parse(isomer_program({"rules", "list", "--rules", path("own.rules"), "--json"}).out);
  ASSERT_EQ(listed["rules"].size(), 2U);
  EXPECT_EQ(listed["rules"][1]["name"], "drop-neg");
  EXPECT_EQ(listed["rules"][1]["family"], "drop-{F}");
  EXPECT_EQ(listed["rules"][1]["doc"], "neg(neg(x)) = neg(x)");
  const auto show = [&](const std::string& name) {
    return isomer_program({"rules", "show", name, "--rules", path("own.rules")}).out;
  };
  EXPECT_THAT(show("drop-{F}"), StartsWith(kFamily));
  EXPECT_THAT(show("drop-{F}"), HasSubstr("drop-relu"));
  EXPECT_THAT(show("drop-relu"), HasSubstr("(Relu (Relu ?x))"));
  EXPECT_THAT(show("drop-relu"), HasSubstr("family: drop-{F}"));
  const auto family =
      nlohmann::json::parse(isomer_program({"rules", "show", "drop-{F}", "--rules", path("own.rules"), "--json"}).out);
  EXPECT_EQ(family["text"], kFamily);
  EXPECT_EQ(family["rules"].size(), 2U);
}

TEST(RulesGenerate, WritesEqualitiesAndRefusesBrokenUniverses) {
  const TempDir folder = TempDir::make().value();
  const std::string out = folder.path() / "equal.txt";
  const Outcome done = isomer_program(
      {"rules", "generate", "--universe", "matrix", "--max-operators", "2", "--equalities", out, "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const nlohmann::json found = done.report()["universes"][0];
  EXPECT_EQ(found["universe"], "matrix");
  EXPECT_EQ(found["counts"].back()["remaining"], found["equalities"].size());
  const std::string written = read_file(out).value();
  EXPECT_THAT(written, HasSubstr("(MatMul (MatMul ?a ?b) ?c) = (MatMul ?a (MatMul ?b ?c))"));

  const Outcome unknown = isomer_program({"rules", "generate", "--universe", "nonesuch"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("nonesuch"));
  const std::string broken = folder.path() / "broken.universe";
  ASSERT_TRUE(write_file(broken, "inputs ?a [2]\noperator (Nonesuch ?a)\n").has_value());
  const Outcome refused = isomer_program({"rules", "generate", "--universe", broken});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, testing::AllOf(HasSubstr("broken.universe"), HasSubstr("line 2"), HasSubstr("Nonesuch")));
}

}  // namespace
}  // namespace isomer
