// Tests the forms of results on made-up figures.

#include "isomer/repro/table_text.h"

#include <gtest/gtest.h>

namespace isomer {
namespace {

const ReproItem kFirst{"paper-t1", "Paper, Table 1: things", {}, ""};
const ReproItem kSecond{"paper-f2", "Paper, Figure 2: more things", {}, ""};

ReproRun first_run() {
  ExperimentResult result{.columns = {{"network"}, {"published", "s"}, {"ours", "CPU s", 1}, {"ended"}},
                          .differences = {{"engine", "a model of the device"}},
                          .hashes = {{"some.rules", "xxh128:0"}},
                          .notes = {"A note."}};
  result.row({"a, \"b\"", 5, 0.25, "cut off (memory)"});
  result.rows.push_back({{"c", nullptr, 2.0, ""}, {}});
  return {&kFirst, "isomer repro paper-t1", std::move(result)};
}

ReproRun second_run() {
  ExperimentResult result{.columns = {{"ours", "CPU s", 1}, {"gain", "x"}}};
  result.row({1.5, 2});
  return {&kSecond, "isomer repro paper-f2", std::move(result)};
}

TEST(TableText, HasTheTableWithItsSettingAndWhatIdentifiesTheRun) {
  EXPECT_EQ(text_of(first_run()),
            "Paper, Table 1: things\n"
            "\n"
            "network  published (s)  ours (CPU s)  ended             setting\n"
            "a, \"b\"               5           0.2  cut off (memory)  other engine\n"
            "c                                  2                    same\n"
            "\n"
            "Other than in the paper:\n"
            "  engine: a model of the device.\n"
            "\n"
            "A note.\n"
            "\n"
            "Command: isomer repro paper-t1\n"
            "Hash of some.rules: xxh128:0\n");
}

TEST(TableText, CsvJoinsTheColumnsOfAllRuns) {
  const std::vector<ReproRun> runs{first_run(), second_run()};
  EXPECT_EQ(
      csv_of(runs),
      "item,network,published (s),ours (CPU s),ended,gain (x),setting,command,hashes\n"
      "paper-t1,\"a, \"\"b\"\"\",5,0.25,cut off (memory),,other engine,isomer repro paper-t1,some.rules xxh128:0\n"
      "paper-t1,c,,2.0,,,same,isomer repro paper-t1,some.rules xxh128:0\n"
      "paper-f2,,,1.5,,2,same,isomer repro paper-f2,\n");
}

TEST(TableText, JsonHasRowsByColumn) {
  const nlohmann::json json = json_of(first_run());
  EXPECT_EQ(json["id"], "paper-t1");
  EXPECT_EQ(json["command"], "isomer repro paper-t1");
  EXPECT_EQ(json["rows"][0]["ours (CPU s)"], 0.25);
  EXPECT_EQ(json["rows"][0]["setting"], "other engine");
  EXPECT_TRUE(json["rows"][1]["published (s)"].is_null());
  EXPECT_EQ(json["differences"]["engine"], "a model of the device");
  EXPECT_EQ(json["hashes"]["some.rules"], "xxh128:0");
}

}  // namespace
}  // namespace isomer
