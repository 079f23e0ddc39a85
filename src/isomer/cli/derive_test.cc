#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/cli/testing.h"

namespace isomer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Outcome derive(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"rules", "derive"});
  return isomer_program(std::move(arguments));
}

TEST(RulesDerive, PrintsTheChain) {
  const Outcome done = derive({"(Relu (Relu (Relu ?x))) => (Relu ?x)"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("in 2 steps"));
  EXPECT_THAT(done.out, HasSubstr("= (Relu (Relu ?x))\n    by drop-relu-of-relu, forward\n"));
}

TEST(RulesDerive, PrintsTheCounterexample) {
  const Outcome done = derive({"(Sub ?x ?y) => (Sub ?y ?x) where shape(?x) == shape(?y)"});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(done.out, HasSubstr("refuted:"));
  EXPECT_THAT(done.out, HasSubstr("output 0"));
}

TEST(RulesDerive, AsksManyOfOwnRules) {
  const TempDir folder = TempDir::make().value();
  const std::string rules = (folder.path() / "own.rules").string();
  const std::string questions = (folder.path() / "questions.rules").string();
  ASSERT_TRUE(write_file(rules, "rule twice (Neg (Neg ?x)) => ?x\nrule more (Abs (Neg ?x)) => (Abs ?x)"));
  ASSERT_TRUE(write_file(questions,
                         "rule four (Neg (Neg (Neg (Neg ?x)))) => (Identity ?x)\n"
                         "rule three (Neg (Neg (Neg ?x))) => (Neg ?x)\n"
                         "rule wrong (Neg (Neg (Neg ?x))) => (Abs ?x)\n"));
  const Outcome table = derive({"--from", questions, "--rules", rules});
  EXPECT_EQ(table.exit_code, 1) << table.err;
  EXPECT_THAT(table.out, HasSubstr("1 derived, 1 not derived, 1 refuted"));
  const json report = json::parse(derive({"--from", questions, "--rules", rules, "--json"}).out);
  EXPECT_EQ(report["rules"], 2);
  EXPECT_EQ(report["equalities"][0]["answer"], "not derived");
  EXPECT_EQ(report["equalities"][1]["answer"], "derived");
  EXPECT_EQ(report["equalities"][1]["chain"][0]["rule"], "twice");
  EXPECT_EQ(report["equalities"][1]["chain"][0]["direction"], "forward");
  EXPECT_EQ(report["equalities"][2]["answer"], "refuted");
}

TEST(RulesDerive, BadQuestionsAreTwo) {
  EXPECT_EQ(derive({}).exit_code, 2);
  EXPECT_EQ(derive({"(Relu ?x) => ?y"}).exit_code, 2);
  EXPECT_EQ(derive({"--from", "nowhere.rules"}).exit_code, 2);
}

}  // namespace
}  // namespace isomer
