#include "isomer/plan/checker/check_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isomer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> messages(const std::vector<PlanFault>& faults) {
  std::vector<std::string> all;
  for (const PlanFault& fault : faults) all.push_back(fault.message);
  return all;
}

TaskGraph chain(size_t tasks) {
  TaskGraph graph;
  const ResourceSetId core = graph.add_resources({{graph.add_resource("core 0")}});
  for (TaskId task = 0; task < tasks; ++task) {
    graph.add_task({10, core});
    if (task > 0) graph.add_edge(task - 1, task);
  }
  return graph;
}

TEST(CheckPlan, NamesTheTasks) {
  const TaskGraph graph = chain(3);
  EXPECT_THAT(messages(check_order(graph, {{{0, 1}}, {}})), ElementsAre("task 2 is on no stream"));
  EXPECT_THAT(messages(check_order(graph, {{{0, 1, 2, 7}, {1}}, {}})),
              ElementsAre("place 3 of stream 0 has task 7, which does not exist",
                          "task 1 (place 1 of stream 0) is also at place 0 of stream 1"));
  EXPECT_THAT(messages(check_order(graph, {{{0, 1, 2}}, {{2, 9}}})),
              ElementsAre("task 9 waits for task 2, and one of them is on no stream"));
  EXPECT_THAT(
      messages(check_order(graph, {{{0, 2}, {1}}, {{0, 1}}})),
      ElementsAre("task 2 (place 1 of stream 0) depends on task 1 (place 0 of stream 1) and does not wait for it"));
  EXPECT_THAT(
      messages(check_order(graph, {{{0}, {1, 2}}, {{0, 1}, {2, 1}}})),
      ElementsAre("task 1 (place 0 of stream 1) waits for itself", "task 2 (place 1 of stream 1) waits for itself"));
}

TEST(CheckPlan, NamesTheBuffers) {
  const MemoryAccesses memory{{100, 100}, {{0, 0, true}, {1, 0}, {1, 1, true}, {2, 1}}};
  EXPECT_THAT(check_memory(memory, {{0, 128}, 256}, {{{0, 1, 2}}, {}}, 3), IsEmpty());
  EXPECT_THAT(
      messages(check_memory(memory, {{0, 128}, 256}, {{{0, 2}, {1}}, {{0, 1}}}, 3)),
      ElementsAre("task 2 (place 1 of stream 0) reads buffer 1, but does not wait for task 1 (place 0 of stream 1), "
                  "which writes buffer 1 first"));
  EXPECT_THAT(messages(check_memory(memory, {{0, 128}, 256}, {{{0, 2, 1}}, {}}, 3)),
              ElementsAre("task 2 (place 1 of stream 0) reads buffer 1, but runs before task 1 (place 2 of stream 0), "
                          "which writes buffer 1 first"));
  EXPECT_THAT(
      messages(check_memory(memory, {{0, 64}, 256}, {{{0, 1, 2}}, {}}, 3)),
      ElementsAre(
          "buffers 0 and 1 share bytes 64 to 100: task 1 (place 1 of stream 0) reads buffer 0, perhaps not before "
          "task 1 (place 1 of stream 0) writes buffer 1; and task 1 (place 1 of stream 0) writes buffer 1, perhaps "
          "not before task 0 (place 0 of stream 0) writes buffer 0"));
  EXPECT_THAT(messages(check_memory(memory, {{0, 130}, 200}, {{{0, 1, 2}}, {}}, 3)),
              ElementsAre("buffer 1 ends at byte 230 of 200", "buffer 1 is at byte 130, which is not aligned"));
  EXPECT_THAT(messages(check_memory({{8}, {{0, 0}}}, {{0}, 64}, {{{0}}, {}}, 3)),
              ElementsAre("task 0 (place 0 of stream 0) reads buffer 0, which nothing wrote before"));
  EXPECT_THAT(messages(check_memory({{8}, {{0, 0, true}, {3, 0}, {UINT32_MAX, 0}, {0, 4}}}, {{}, 64}, {{{0}}, {}}, 3)),
              ElementsAre("0 buffers have places, and there are 1", "task 3, which reads buffer 0, is on no stream",
                          "task 4294967295, which reads buffer 0, is on no stream",
                          "task 0 (place 0 of stream 0) reads buffer 4, which does not exist"));
}

TEST(CheckPlan, PartsOfABufferAreWrittenAtTheSameTime) {
  // Two tasks write the parts of a concatenation, a third reads all of it.
  MemoryAccesses memory{{128}, {{0, 0, true, 0, 16}, {1, 0, true, 16, 32}, {2, 0}}};
  const StreamPlan plan{{{0, 2}, {1}}, {{1, 2}}};
  EXPECT_THAT(check_memory(memory, {{0}, 128}, plan, 3), IsEmpty());
  memory.accesses[1].begin = 15;
  EXPECT_THAT(
      messages(check_memory(memory, {{0}, 128}, plan, 3)),
      ElementsAre("task 1 (place 0 of stream 1) writes 15 to 32 of buffer 0, but does not wait for task 0 (place 0 "
                  "of stream 0), which writes 0 to 16 of buffer 0 first"));
}

TEST(CheckPlan, NamesThePartThatNothingWrote) {
  const auto faults = [](const std::vector<Access>& accesses) {
    return messages(check_memory({{128}, accesses}, {{0}, 128}, {{{0, 1, 2}}, {}}, 3));
  };
  EXPECT_THAT(
      faults({{0, 0, true, 0, 1}, {1, 0, false, 0, 100}}),
      ElementsAre("task 1 (place 1 of stream 0) reads 0 to 100 of buffer 0, and nothing wrote 1 to 100 before"));
  EXPECT_THAT(
      faults({{0, 0, true, 60, 90}, {1, 0, true, 10, 20}, {2, 0, false, 15, 70}}),
      ElementsAre("task 2 (place 2 of stream 0) reads 15 to 70 of buffer 0, and nothing wrote 20 to 60 before"));
  EXPECT_THAT(faults({{0, 0, true, 10, 20}, {1, 0, false, 5, 15}}),
              ElementsAre("task 1 (place 1 of stream 0) reads 5 to 15 of buffer 0, and nothing wrote 5 to 10 before"));
  EXPECT_THAT(faults({{0, 0, true, 0, 60}, {1, 0, true, 20, 30}, {2, 0, false, 5, 60}}), IsEmpty());
  // All of the buffer: up to 30, whoever writes the last part.
  EXPECT_THAT(faults({{0, 0, true, 0, 20}, {1, 0}, {2, 0, true, 20, 30}}),
              ElementsAre("task 1 (place 1 of stream 0) reads buffer 0, and nothing wrote 20 to 30 before"));
  EXPECT_THAT(faults({{0, 0, true}, {1, 0, false, 3, 9}, {2, 0}}), IsEmpty());
}

TEST(CheckPlan, NamesTasksThatDoNotExist) {
  const MemoryAccesses memory{{8}, {{0, 0, true}}};
  EXPECT_THAT(messages(check_memory(memory, {{0}, 64}, {{{0, 4000000000}, {UINT32_MAX}}, {}}, 1)),
              ElementsAre("place 1 of stream 0 has task 4000000000, which does not exist",
                          "place 0 of stream 1 has task 4294967295, which does not exist"));
}

TEST(CheckPlan, NamesTimesAndResources) {
  const TaskGraph graph = chain(2);
  EXPECT_THAT(check_schedule(graph, {{0, 10}, {0, 10}, {10, 20}, 20}), IsEmpty());
  EXPECT_THAT(messages(check_schedule(graph, {{0, 10}, {0, 9}, {10, 19}, 19})),
              ElementsAre("task 1 starts at 9, and task 0, on which it depends, ends at 10",
                          "at 9, task 1 brings the units of resource 0 (core 0) that are occupied to 2 of 1"));
  EXPECT_THAT(messages(check_schedule(graph, {{0, 10}, {-1, 10}, {9, 21}, 20})),
              ElementsAre("task 0 starts at -1, before time 0", "task 1 runs from 10 to 21, and takes 10",
                          "the last task ends at 21, and the makespan is 20"));
  EXPECT_THAT(messages(check_schedule(graph, {{}, {}, {}, 0})), ElementsAre("0 tasks have times, and there are 2"));
}

}  // namespace
}  // namespace isomer
