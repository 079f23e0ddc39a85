// Tests the command that repeats published experiments.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <future>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/cli/repro_results.h"
#include "isomer/cli/testing.h"

namespace isomer {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Repro, ListsItemsWithReasons) {
  const Outcome text = isomer_program({"repro", "--list"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("metaflow-t3"));
  EXPECT_THAT(text.out, HasSubstr("no: needs a GPU with TensorRT"));
  const Outcome json = isomer_program({"repro", "--list", "--json"});
  ASSERT_EQ(json.exit_code, 0);
  size_t reproduced = 0;
  const auto report = json.report();
  for (const auto& item : report["items"]) {
    EXPECT_EQ(item["reproduced"].get<bool>(), item.contains("networks")) << item;
    EXPECT_NE(item["reproduced"].get<bool>(), item.contains("reason")) << item;
    reproduced += item["reproduced"].get<bool>() ? 1 : 0;
  }
  EXPECT_GT(reproduced, 5U);
}

TEST(Repro, RunsAnItem) {
  const TempDir folder = TempDir::make().value();
  const std::string csv = (folder.path() / "rows.csv").string(), svg = (folder.path() / "plots.svg").string();
  const Outcome outcome = isomer_program({"repro", "metaflow-f7", "--csv", csv, "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto item = outcome.report()["items"][0];
  EXPECT_EQ(item["id"], "metaflow-f7");
  EXPECT_EQ(item["command"], "isomer repro metaflow-f7");
  EXPECT_EQ(item["rows"][0]["device"], "V100");
  EXPECT_FALSE(outcome.report()["processor"].get<std::string>().empty());
  EXPECT_THAT(read_file(csv).value(), StartsWith("item,device,"));
  const Outcome plotted = isomer_program({"repro", "ocggs-f4", "--network", "resnet-blocks-2", "--svg", svg,
                                          "--search-memory", "1000000", "--time-budget", "1"});
  ASSERT_EQ(plotted.exit_code, 0) << plotted.err;
  EXPECT_THAT(plotted.out, HasSubstr("Command: isomer repro ocggs-f4 --network resnet-blocks-2 --time-budget 1 "
                                     "--search-memory 1000000\n"));
  EXPECT_THAT(plotted.out, HasSubstr("Processor: "));
  EXPECT_THAT(read_file(svg).value(), HasSubstr(">number of blocks<"));
}

TEST(Repro, RunsTheItemsOfAPaperThatHaveTheNetworks) {
  const Outcome outcome = isomer_program(
      {"repro", "metaflow", "--network", "alexnet", "--network", "inception-e-1", "--search-memory", "1", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto items = outcome.report()["items"];
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0]["command"],
            "isomer repro metaflow-t3 --network alexnet --network inception-e-1 --search-memory 1");
  EXPECT_EQ(items[1]["command"], "isomer repro metaflow-f7 --network inception-e-1 --search-memory 1");
}

class ReproResultsTest : public testing::Test {
 protected:
  ReproRun run() const {
    ExperimentResult result{.columns = {{"ours"}}};
    result.row({5});
    return {&item_, "isomer repro paper-t1", std::move(result)};
  }

  const ReproItem item_{"paper-t1", "Paper, Table 1: things"};
  const TempDir folder_ = TempDir::make().value();
  const std::string csv_ = (folder_.path() / "rows.csv").string();
};

TEST_F(ReproResultsTest, AreNotLostIfALaterExperimentFails) {
  ReproResults results = ReproResults::open(csv_, "", false).value();
  testing::internal::CaptureStdout();
  ASSERT_TRUE(results.add(run()).has_value());
  EXPECT_THAT(testing::internal::GetCapturedStdout(), StartsWith("Paper, Table 1: things\n"));
  EXPECT_THAT(read_file(csv_).value(), HasSubstr("\npaper-t1,5,"));
  ReproResults as_json = ReproResults::open("", "", true).value();
  testing::internal::CaptureStdout();
  ASSERT_TRUE(as_json.add(run()).has_value());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  testing::internal::CaptureStdout();
  ASSERT_TRUE(as_json.finish().has_value());
  EXPECT_EQ(nlohmann::json::parse(testing::internal::GetCapturedStdout())["items"].size(), 1U);
}

TEST_F(ReproResultsTest, DoNotReplaceFilesIfThereAreNone) {
  ASSERT_TRUE(write_file(csv_, "before").has_value());
  ReproResults results = ReproResults::open(csv_, "", true).value();
  testing::internal::CaptureStdout();
  ASSERT_TRUE(results.finish().has_value());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(read_file(csv_).value(), "before");
}

TEST_F(ReproResultsTest, AreWrittenOnceToADeviceOrPipe) {
  const std::string pipe = (folder_.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::future<std::string> reader = std::async(std::launch::async, [&] { return read_file(pipe).value(); });
  testing::internal::CaptureStdout();
  {
    ReproResults results = ReproResults::open(pipe, "", true).value();
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(results.add(run()).has_value());
    ASSERT_TRUE(results.finish().has_value());
  }
  testing::internal::GetCapturedStdout();
  const std::string rows = reader.get();
  EXPECT_EQ(std::ranges::count(rows, '\n'), 3) << rows;
}

TEST(Repro, ErrorsAreOneLineAndNameWhatThereIs) {
  const auto error = [](const std::vector<std::string>& arguments) {
    const Outcome outcome = isomer_program(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_EQ(error({"repro", "metaflow-t33"}),
            "isomer: there is no item 'metaflow-t33'; did you mean metaflow-t3, metaflow-t2, metaflow-f5 or "
            "metaflow-f6?\n");
  EXPECT_EQ(error({"repro"}), "isomer: an item is needed; `isomer repro --list` lists them\n");
  EXPECT_THAT(error({"repro", "taso-t2.1"}), StartsWith("isomer: taso-t2.1 is not reproduced: "));
  EXPECT_EQ(error({"repro", "metaflow-t3", "--network", "bert-8"}),
            "isomer: --network: there is no 'bert-8' here; there are alexnet, vgg16, inception-e-1, resnet18\n");
  // Before the first network runs, which would take longer than a second.
  EXPECT_THAT(error({"repro", "ocggs-t3", "--network", "inception-v3", "--network", "alexnet"}),
              StartsWith("isomer: --network: there is no 'alexnet' here"));
  EXPECT_THAT(error({"repro", "ocggs-t3", "--csv", "/no/such/folder/rows.csv"}),
              StartsWith("isomer: /no/such/folder/rows.csv: "));
  EXPECT_THAT(error({"repro", "metaflow-f9", "--torch", ""}), HasSubstr("--torch: the name of a Python is needed"));
  EXPECT_THAT(error({"repro", "metaflow-t3", "--torch", "python3"}), HasSubstr("metaflow-t3 does not run PyTorch"));
  EXPECT_THAT(error({"repro", "metaflow-t3", "--svg", "plots.svg"}), HasSubstr("metaflow-t3 has no plots for --svg"));
  EXPECT_THAT(error({"repro", "--list", "--csv", "rows.csv"}), StartsWith("isomer: --list excludes --csv\n"));
}

}  // namespace
}  // namespace isomer
