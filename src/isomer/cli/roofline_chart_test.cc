#include "isomer/cli/roofline_chart.h"

#include <gmock/gmock.h>

#include <cmath>

namespace isomer {
namespace {

const ProcessorPeak kPeak{100e9, {{"memory", INFINITY, 10e9}}};

TEST(RooflineChart, PutsKernelsByTheirFlopsPerByte) {
  const KernelShare kernels[] = {{"Conv+Relu f32[1,8]", 2, 10, 400e3, 20e3}, {"reorder to blocked", 1, 5, 0, 1e3}};
  const Chart chart = roofline_chart("m.onnx", kernels, kPeak);
  ASSERT_EQ(chart.series.size(), 2) << "the limit, and convolutions: a reorder has no FLOPs";
  const ChartSeries& convolutions = chart.series[1];
  EXPECT_EQ(convolutions.name, "Conv");
  EXPECT_FALSE(convolutions.joined);
  ASSERT_EQ(convolutions.points.size(), 1);
  EXPECT_EQ(convolutions.points[0].x, 20);
  EXPECT_NEAR(convolutions.points[0].y, 40, 1e-9);
  EXPECT_EQ(convolutions.points[0].label, kernels[0].kernel);
}

TEST(RooflineChart, LimitsMeetWhereBothAreReached) {
  const Chart chart = roofline_chart("m.onnx", {}, kPeak);
  const std::vector<ChartPoint>& limit = chart.series[0].points;
  ASSERT_EQ(limit.size(), 3);
  EXPECT_NEAR(limit[0].y / limit[0].x, 10, 1e-9);
  EXPECT_NEAR(limit[1].x, 10, 1e-9);
  EXPECT_NEAR(limit[1].y, 100, 1e-9);
  EXPECT_EQ(limit[2].y, limit[1].y);
  EXPECT_GT(limit[2].x, limit[1].x);
}

TEST(RooflineChart, TakesManyOperatorsTogether) {
  std::vector<KernelShare> kernels;
  for (const char* const name : {"A", "B", "A", "C", "D", "E", "A"}) kernels.push_back({name, 1, 1, 1e3, 1e3});
  std::vector<std::string> names;
  for (const ChartSeries& series : roofline_chart("m.onnx", kernels, kPeak).series) names.push_back(series.name);
  EXPECT_THAT(names, ::testing::ElementsAre("memory: 10 GB/s", "A", "B", "C", "others"));
}

}  // namespace
}  // namespace isomer
