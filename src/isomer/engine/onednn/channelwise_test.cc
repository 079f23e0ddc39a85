#include "isomer/engine/onednn/channelwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

using Tag = dnnl::memory::format_tag;

Desc desc_of(const Dims& dims, Tag tag) { return {dims, dnnl::memory::data_type::f32, tag}; }

TEST(ChannelLayout, KnowsWhereChannelsLie) {
  const auto expect = [](const Desc& desc, const ChannelLayout& wanted) {
    const auto layout = channel_layout(desc);
    ASSERT_TRUE(layout.has_value());
    EXPECT_EQ(layout->groups, wanted.groups);
    EXPECT_EQ(layout->groups_per_image, wanted.groups_per_image);
    EXPECT_EQ(layout->repeats, wanted.repeats);
    EXPECT_EQ(layout->width, wanted.width);
  };
  expect(desc_of({2, 20, 3, 5}, Tag::nchw), {40, 20, 15, 1});
  expect(desc_of({2, 20, 3, 5}, Tag::nhwc), {2, 1, 15, 20});
  expect(desc_of({2, 20, 3, 5}, Tag::nChw16c), {4, 2, 15, 16});
  expect(desc_of({2, 20, 3, 5}, Tag::nChw8c), {6, 3, 15, 8});
  expect(desc_of({2, 20}, Tag::ab), {1, 1, 2, 20});
  EXPECT_FALSE(channel_layout(strided_desc({2, 20, 3}, {120, 6, 2})).has_value()) << "gaps";
  EXPECT_FALSE(channel_layout(desc_of({2, 20, 3, 5}, Tag::cdba)).has_value());
}

/// Compares every element of every layout with the formula, with threads that begin within a group.
TEST(ChannelMap, MapsEveryElement) {
  for (const int threads : {1, 3}) {
    const ThreadScope scope(threads);
    for (const int64_t width : {1, 2, 3, 4, 8, 16, 32, 37}) {
      std::vector<float> scale, shift;
      for (int64_t c = 0; c < 3 * width; ++c) {
        scale.push_back(0.5F + static_cast<float>(c));
        shift.push_back(static_cast<float>(c % 7) - 3);
      }
      const ChannelMap map{
          .layout = {6, 3, 401, width}, .scale = scale.data(), .shift = shift.data(), .low = 0, .high = 6};
      std::vector<float> x(static_cast<size_t>(6 * (401 * width)));
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 11) / 4 - 1;
      x[5] = NAN;
      std::vector<float> y(x.size());
      apply(map, x.data(), y.data());
      EXPECT_TRUE(std::isnan(y[5]));
      y[5] = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const size_t group = i / static_cast<size_t>(401 * width);
        const size_t c = group % 3 * static_cast<size_t>(width) + i % static_cast<size_t>(width);
        const float wanted = std::min(std::max(x[i] * scale[c] + shift[c], 0.0F), 6.0F);
        if (i != 5) {
          ASSERT_NEAR(y[i], wanted, 1e-5) << "width " << width << " at " << i;
        }
      }
      std::vector<float> in_place = x;
      apply(map, in_place.data(), in_place.data());
      in_place[5] = 0;
      EXPECT_EQ(in_place, y);
    }
  }
}

}  // namespace
}  // namespace isomer::onednn
