#include "isomer/optimize/rule_set.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"

namespace isomer {
namespace {

TEST(UsableRules, SkipNamesRulesFamiliesAndTactics) {
  const TempDir folder = TempDir::make().value();
  const std::string path = (folder.path() / "own.rules").string();
  ASSERT_TRUE(write_file(path,
                         "rule drop-{F}\n"
                         "  for F in Relu, Abs\n"
                         "  (F (F ?x))\n"
                         "  => (F ?x)\n\n"
                         "rule twice (Neg (Neg ?x)) => ?x\n\n"
                         "tactic all seed drop-{F} then twice\n")
                  .has_value());
  const auto left = [&](const std::vector<std::string>& skip) {
    std::vector<std::string> out;
    const RuleSet rules = usable_rules(path, skip).value();
    for (const Rule& rule : rules.rules) out.push_back(rule.name);
    for (const Tactic& tactic : rules.tactics) out.push_back(tactic.name);
    return out;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(left({}), (Names{"drop-relu", "drop-abs", "twice", "all"}));
  EXPECT_EQ(left({"drop-abs", "all"}), (Names{"drop-relu", "twice"}));
  EXPECT_EQ(left({"drop-{F}"}), (Names{"twice", "all"}));
  EXPECT_FALSE(usable_rules(path, {"drop-{G}"}).has_value());
  EXPECT_FALSE(usable_rules(path, {""}).has_value());
}

}  // namespace
}  // namespace isomer
