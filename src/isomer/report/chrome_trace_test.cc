#include "isomer/report/chrome_trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace isomer {
namespace {

using nlohmann::json;

TEST(ChromeTrace, HasTheFormatsEvents) {
  Trace trace("main");
  const size_t other = trace.add_track("other");
  trace.add({.name = "part", .category = "b", .start = 10, .duration = 5, .notes = {{"bytes", 64.0}, {"of", "x"}}});
  trace.add({.name = "whole", .category = "a", .start = 10, .duration = 20});
  trace.add({.name = "beside", .category = "b", .start = 2, .duration = 1, .track = other});
  trace.number("candidates", 3);
  const json all = chrome_trace(trace);
  const json& events = all["traceEvents"];
  ASSERT_EQ(events.size(), 6U);
  EXPECT_EQ(events[0],
            (json{{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", "main"}}}}));
  EXPECT_EQ(events[1]["args"]["name"], "other");
  EXPECT_EQ(events[2]["name"], "beside");
  EXPECT_EQ(events[2]["tid"], 2);
  EXPECT_EQ(events[3]["name"], "whole") << "before what it contains";
  EXPECT_EQ(events[4], (json{{"name", "part"},
                             {"cat", "b"},
                             {"ph", "X"},
                             {"ts", 10.0},
                             {"dur", 5.0},
                             {"pid", 1},
                             {"tid", 1},
                             {"args", {{"bytes", 64.0}, {"of", "x"}}}}));
  EXPECT_EQ(events[5]["ph"], "C");
  EXPECT_EQ(events[5]["args"], (json{{"candidates", 3.0}}));
}

}  // namespace
}  // namespace isomer
