#include "isomer/base/near_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isomer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kNames = {"resnet18", "resnet50", "resnext50", "vgg16"};

TEST(NearNames, TheNearestIsFirst) {
  EXPECT_THAT(near_names("resnet51", kNames), ElementsAre("resnet50", "resnet18", "resnext50"));
  EXPECT_THAT(near_names("vg", kNames), ElementsAre("vgg16"));  // the same beginning
  EXPECT_THAT(near_names("qqqqqqqqqq", kNames), IsEmpty());
}

TEST(NearNames, AreAQuestion) {
  EXPECT_EQ(did_you_mean("resnet51", kNames), "; did you mean resnet50, resnet18 or resnext50?");
  EXPECT_EQ(did_you_mean("vgg", kNames), "; did you mean vgg16?");
  EXPECT_EQ(did_you_mean("qqqqqqqqqq", kNames), "");
}

}  // namespace
}  // namespace isomer
