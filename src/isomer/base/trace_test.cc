#include "isomer/base/trace.h"

#include <gtest/gtest.h>

namespace isomer {
namespace {

TEST(Trace, ScopesNest) {
  Trace trace("main");
  {
    TraceScope outer(&trace, "outer", "a");
    {
      TraceScope inner(&trace, "inner", "b");
      inner.note("why", "because");
      inner.note("count", 2.0);
    }
    const TraceScope second(&trace, "second", "b");
  }
  ASSERT_EQ(trace.spans().size(), 3U);
  const TraceSpan& inner = trace.spans()[0];
  const TraceSpan& second = trace.spans()[1];
  const TraceSpan& outer = trace.spans()[2];
  EXPECT_EQ(inner.name, "inner");
  EXPECT_EQ(std::get<std::string>(inner.notes[0].second), "because");
  EXPECT_EQ(std::get<double>(inner.notes[1].second), 2);
  EXPECT_LE(outer.start, inner.start);
  EXPECT_LE(inner.start + inner.duration, second.start);
  EXPECT_LE(second.start + second.duration, outer.start + outer.duration);
}

TEST(Trace, ScopesCanStandForWorkOnOtherThreads) {
  Trace trace("main");
  const size_t worker = trace.track("worker");
  TraceScope(&trace, "work", "a").took(worker, 10, 20);
  EXPECT_EQ(trace.spans()[0].track, worker);
  EXPECT_EQ(trace.spans()[0].start, 10);
  EXPECT_EQ(trace.spans()[0].duration, 20);
  EXPECT_EQ(trace.track("worker"), worker);
  EXPECT_EQ(trace.track("main"), 0);
}

TEST(Trace, NobodyNeedsToListen) {
  TraceScope scope(nullptr, "alone", "a");
  scope.note("count", 1.0);
}

TEST(Trace, NumbersAndTracksAreInOrder) {
  Trace trace("first");
  EXPECT_EQ(trace.add_track("second"), 1U);
  trace.number("n", 1);
  trace.number("n", 2);
  ASSERT_EQ(trace.numbers().size(), 2U);
  EXPECT_LE(trace.numbers()[0].time, trace.numbers()[1].time);
  EXPECT_EQ(trace.tracks()[1], "second");
}

}  // namespace
}  // namespace isomer
