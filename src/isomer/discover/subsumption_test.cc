#include "isomer/discover/subsumption.h"

#include <gmock/gmock.h>

namespace isomer {
namespace {

std::vector<std::string> names_left(const std::string& text) {
  std::vector<CheckedRule> rules;
  const auto parsed = parse_rules(text).value();
  for (const Rule& rule : parsed) rules.push_back({rule, {}});
  std::vector<std::string> out;
  for (const CheckedRule& each : without_instances(std::move(rules), 2)) out.push_back(each.rule.name);
  return out;
}

TEST(Subsumption, DropsInstancesOfMoreGeneralRules) {
  EXPECT_THAT(names_left(R"(
rule general
  (Relu (Concat axis=?k @a)) => (Concat axis=?k (Relu @a)...)
rule of-rows
  (Relu (Concat axis=0 ?a ?b)) => (Concat axis=0 (Relu ?a) (Relu ?b)) where rank(?a) == 2 and real(?a)
)"),
              testing::ElementsAre("general"));
}

TEST(Subsumption, KeepsWhatSaysMore) {
  EXPECT_THAT(names_left(R"(
rule columns
  (Relu (Concat axis=1 ?a ?b)) => (Concat axis=1 (Relu ?a) (Relu ?b))
rule rows
  (Relu (Concat axis=0 ?a ?b)) => (Concat axis=0 (Relu ?a) (Relu ?b))
rule turned-around
  (Concat axis=0 (Relu ?a) (Relu ?b)) => (Relu (Concat axis=0 ?a ?b))
)"),
              testing::ElementsAre("columns", "rows", "turned-around"));
}

}  // namespace
}  // namespace isomer
