// Tests the list of tables and figures.

#include "isomer/repro/items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "isomer/models/models.h"

namespace isomer {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;

std::vector<std::string> ids() {
  std::vector<std::string> all;
  for (const ReproItem& item : all_items()) all.push_back(item.id);
  return all;
}

std::string message(const std::string& name) {
  const auto items = items_called(name);
  return items ? "" : items.error().message;
}

TEST(ReproItems, HaveDifferentIds) {
  const std::vector<std::string> all = ids();
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
}

TEST(ReproItems, AreEverythingThatThePapersMeasure) {
  EXPECT_THAT(
      ids(),
      IsSupersetOf(
          {"metaflow-t2",    "metaflow-t3",    "metaflow-f5",    "metaflow-f6",    "metaflow-f7",    "metaflow-f9",
           "metaflow-f10",   "taso-t2.1",      "taso-t2.2",      "taso-t2.3",      "taso-f2.7",      "taso-f2.9d",
           "taso-f2.10",     "taso-f2.11",     "taso-f2.12",     "taso-s2.9.6",    "ocggs-t3",       "ocggs-f4",
           "ocggs-f5",       "autograph-t2",   "autograph-f8",   "autograph-f9",   "autograph-f10",  "autograph-f11",
           "regal-t1",       "regal-t2",       "regal-t3",       "regal-f4",       "regal-f5",       "regal-f6",
           "regal-f7",       "regal-f8",       "flexflow-t3.4",  "flexflow-f3.6",  "flexflow-f3.7",  "flexflow-f3.8",
           "flexflow-f3.9",  "flexflow-f3.10", "flexflow-f3.11", "flexflow-f3.12", "flexflow-f3.13", "flexflow-s3.7.5",
           "flexflow-f3.14", "flexflow-f3.15", "roc-f4.4",       "roc-f4.5",       "roc-f4.6",       "roc-f4.7",
           "roc-f4.8",       "roc-f4.9",       "roc-f4.10"}));
}

TEST(ReproItems, AreReproducedOrSayWhyNot) {
  for (const ReproItem& item : all_items()) {
    EXPECT_FALSE(item.title.empty()) << item.id;
    EXPECT_EQ(item.reproduced(), item.why_not.empty()) << item.id;
  }
}

TEST(ReproItems, AreFoundByIdAndByPaper) {
  const auto one = items_called("metaflow-t3");
  ASSERT_TRUE(one.has_value());
  ASSERT_EQ(one->size(), 1U);
  EXPECT_EQ(one->front().id, "metaflow-t3");
  const auto paper = items_called("ocggs");
  ASSERT_TRUE(paper.has_value());
  for (const ReproItem& item : *paper) {
    EXPECT_THAT(item.id, StartsWith("ocggs-"));
    EXPECT_TRUE(item.reproduced()) << item.id;
  }
}

TEST(ReproItems, AreChosenByNetwork) {
  const auto chosen = [](const std::string& name, const std::vector<std::string>& networks) {
    return items_with(networks, items_called(name).value());
  };
  EXPECT_EQ(chosen("metaflow", {})->size(), items_called("metaflow")->size());
  const auto items = chosen("metaflow", {"alexnet", "inception-e-1"});
  ASSERT_TRUE(items.has_value());
  ASSERT_EQ(items->size(), 2U);
  EXPECT_EQ(items->front().id, "metaflow-t3");
  EXPECT_EQ(items->back().id, "metaflow-f7");
  EXPECT_EQ(chosen("metaflow-t3", {"alexnet", "bert-8"}).error().message,
            "there is no 'bert-8' here; there are alexnet, vgg16, inception-e-1, resnet18");
  EXPECT_EQ(chosen("taso-f2.9d", {"resnext50"}).error().message, "there are no networks to choose from");
}

TEST(ReproItems, HaveNetworksThatExist) {
  for (const ReproItem& item : all_items())
    for (const std::string& network : item.experiment.networks)
      EXPECT_TRUE(build_model(network).has_value()) << item.id << ": " << network;
}

TEST(ReproItems, ErrorsNameWhatIsNear) {
  EXPECT_EQ(message("metaflow-t33"),
            "there is no item 'metaflow-t33'; did you mean metaflow-t3, metaflow-t2, "
            "metaflow-f5 or metaflow-f6?");
  EXPECT_THAT(message("qqqqqqqqqqqqqqq"), HasSubstr("`isomer repro --list` lists them; the papers are metaflow, taso"));
  EXPECT_THAT(message("metaflow-f5"), StartsWith("metaflow-f5 is not reproduced: needs a GPU"));
  EXPECT_THAT(message("roc"), StartsWith("no item of roc is reproduced"));
}

}  // namespace
}  // namespace isomer
