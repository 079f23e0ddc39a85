// Plans with planted faults: every fault that harms some execution is found.

#include <gtest/gtest.h>

#include <set>

#include "isomer/plan/assign_streams.h"
#include "isomer/plan/checker/check_plan.h"
#include "isomer/plan/plan_testing.h"
#include "isomer/plan/simulate.h"
#include "isomer/plan/task_graph_testing.h"

namespace isomer {
namespace {

using Kind = PlanFault::Kind;

bool has(const std::vector<PlanFault>& faults, Kind kind) {
  return std::any_of(faults.begin(), faults.end(), [&](const PlanFault& fault) { return fault.kind == kind; });
}

/// The first message; empty if there is none.
std::string first_of(const std::vector<PlanFault>& faults) { return faults.empty() ? "" : faults.front().message; }

/// A random program with a plan for all of it.
struct Planned {
  RandomProgram program;
  StreamPlan plan;
  ArenaLayout layout;

  Planned(Rng& rng, size_t tasks)
      : program(rng, tasks),
        plan(assign_streams(program.graph, 1 + rng.below(4)).value()),
        layout(plan_memory(program.memory, HappensBefore::make(plan, tasks).value()).value()) {}

  std::vector<PlanFault> order() const { return check_order(program.graph, plan); }
  std::vector<PlanFault> memory() const {
    return check_memory(program.memory, layout, plan, program.graph.task_limit());
  }
  Executions executions() const { return {program.graph, program.memory, layout, plan}; }
};

/// Makes random plans until 1,000 of them have a fault that some execution shows, and checks that all are rejected.
/// `plant` puts a fault into a plan; false if there is no place for it. `harmful` tries all executions.
template <class Plant, class Harmful, class Rejected>
void reject_a_thousand(uint64_t seed, Plant plant, Harmful harmful, Rejected rejected) {
  Rng rng(seed);
  int found = 0;
  for (int round = 0; found < 1000; ++round) {
    ASSERT_LT(round, 50000) << found;
    Planned planned(rng, 2 + rng.below(4));
    if (!plant(rng, planned) || !harmful(planned.executions())) continue;
    ++found;
    EXPECT_TRUE(rejected(planned)) << round;
  }
}

TEST(PlantedFaults, AcceptsCorrectPlans) {
  Rng rng(1);
  for (int round = 0; round < 1000; ++round) {
    const Planned planned(rng, 1 + rng.below(60));
    EXPECT_EQ(first_of(planned.order()), "");
    EXPECT_EQ(first_of(planned.memory()), "");
    TaskGraph ordered = planned.program.graph;
    add_order(ordered, planned.plan);
    EXPECT_EQ(first_of(check_schedule(ordered, simulate(ordered).value())), "");
  }
}

TEST(PlantedFaults, AcceptsCorrectSchedulesOfManyResources) {
  Rng rng(2);
  for (int round = 0; round < 300; ++round) {
    const TaskGraph graph = random_task_graph(rng, 1 + rng.below(5), 1 + rng.below(60), 2);
    EXPECT_EQ(first_of(check_schedule(graph, simulate(graph).value())), "");
  }
}

TEST(PlantedFaults, RejectsAMissingSynchronization) {
  int all = 0;
  int harmless = 0;
  reject_a_thousand(
      3,
      [&](Rng& rng, Planned& planned) {
        auto& synchronizations = planned.plan.synchronizations;
        if (synchronizations.empty()) return false;
        synchronizations.erase(synchronizations.begin() + static_cast<ptrdiff_t>(rng.below(synchronizations.size())));
        return true;
      },
      [&](const Executions& executions) {
        ++all;
        harmless += executions.breaks_edges() ? 0 : 1;
        return executions.breaks_edges();
      },
      [](const Planned& planned) { return has(planned.order(), Kind::Order) && has(planned.memory(), Kind::Race); });
  EXPECT_EQ(all, 1000);
  EXPECT_EQ(harmless, 0);  // none is superfluous
}

TEST(PlantedFaults, RejectsABufferThatIsReusedTooEarly) {
  reject_a_thousand(
      4,
      [](Rng& rng, Planned& planned) {
        const size_t buffers = planned.program.memory.bytes.size();
        const size_t one = rng.below(buffers);
        const size_t other = rng.below(buffers);
        planned.layout.offsets[one] = planned.layout.offsets[other];
        planned.layout.bytes = std::max(planned.layout.bytes, planned.layout.offsets[one] + 3 * kArenaAlignment);
        return one != other;
      },
      [](const Executions& executions) { return executions.spoils_memory(); },
      [](const Planned& planned) { return planned.order().empty() && has(planned.memory(), Kind::Memory); });
}

/// Whether a task reads what another one wrote.
bool reads_from(const MemoryAccesses& memory, TaskId reader, TaskId writer) {
  for (const Access& read : memory.accesses)
    for (const Access& write : memory.accesses)
      if (read.task == reader && write.task == writer && !read.write && write.write && read.buffer == write.buffer &&
          read.begin < write.end && write.begin < read.end)
        return true;
  return false;
}

TEST(PlantedFaults, RejectsAReaderBeforeItsWriter) {
  reject_a_thousand(
      5,
      [](Rng& rng, Planned& planned) {
        auto& stream = planned.plan.streams[rng.below(planned.plan.streams.size())];
        if (stream.size() < 2) return false;
        const size_t place = 1 + rng.below(stream.size() - 1);
        std::swap(stream[place - 1], stream[place]);
        return reads_from(planned.program.memory, stream[place - 1], stream[place]);
      },
      [](const Executions& executions) { return executions.some() && executions.spoils_memory(); },
      [](const Planned& planned) { return has(planned.order(), Kind::Order) && has(planned.memory(), Kind::Race); });
}

/// Whether a task reads a cell that nothing wrote, if all run one after the other.
bool reads_nothing(const MemoryAccesses& memory) {
  std::set<std::pair<uint32_t, uint64_t>> written;
  for (const Access& access : memory.accesses)
    for (uint64_t cell = access.begin; cell < access.end; ++cell) {
      if (access.write) written.emplace(access.buffer, cell);
      if (!access.write && written.count({access.buffer, cell}) == 0) return true;
    }
  return false;
}

TEST(PlantedFaults, RejectsAReadOfAPartThatNothingWrote) {
  Rng rng(8);
  int found = 0;
  int harmless = 0;
  for (int round = 0; found < 1000; ++round) {
    ASSERT_LT(round, 50000);
    Planned planned(rng, 2 + rng.below(8));
    std::vector<Access>& accesses = planned.program.memory.accesses;
    Access& access = accesses[rng.below(accesses.size())];
    if (!access.write) continue;
    (rng.below(2) == 0 ? access.begin += 1 : access.end -= 1);
    const bool harmful = reads_nothing(planned.program.memory);
    EXPECT_EQ(has(planned.memory(), Kind::Race), harmful) << round;
    found += harmful ? 1 : 0;
    harmless += harmful ? 0 : 1;
  }
  EXPECT_GT(harmless, 100);
}

TEST(PlantedFaults, RejectsAResourceThatIsUsedTwice) {
  Rng rng(6);
  int found = 0;
  for (int round = 0; found < 1000; ++round) {
    ASSERT_LT(round, 50000);
    const TaskGraph graph = random_task_graph(rng, 1 + rng.below(3), 2 + rng.below(8), 1);
    Schedule schedule = simulate(graph).value();
    const auto moved = static_cast<TaskId>(rng.below(graph.task_limit()));
    schedule.start[moved] = schedule.start[rng.below(graph.task_limit())];
    schedule.end[moved] = schedule.start[moved] + graph.task(moved).duration;
    schedule.makespan = *std::max_element(schedule.end.begin(), schedule.end.end());
    // Counts the units at each time.
    bool twice = false;
    for (Nanoseconds time = 0; time < schedule.makespan; ++time) {
      std::vector<uint32_t> units(graph.resource_count(), 0);
      for (TaskId task = 0; task < graph.task_limit(); ++task)
        if (schedule.start[task] <= time && time < schedule.end[task])
          for (const ResourceUse& use : graph.uses(graph.task(task).resources)) units[use.resource] += use.units;
      for (ResourceId id = 0; id < units.size(); ++id) twice = twice || units[id] > graph.resource(id).units;
    }
    found += twice ? 1 : 0;
    EXPECT_EQ(has(check_schedule(graph, schedule), Kind::Resource), twice);
  }
}

/// All verdicts, not only of planted faults: no execution is wrong exactly if nothing is reported.
TEST(PlantedFaults, AgreesWithAllExecutions) {
  Rng rng(7);
  int wrong = 0;
  for (int round = 0; round < 2000; ++round) {
    Planned planned(rng, 1 + rng.below(5));
    auto& synchronizations = planned.plan.synchronizations;
    if (!synchronizations.empty() && rng.below(2) == 0) synchronizations.pop_back();
    auto& stream = planned.plan.streams[0];
    if (rng.below(3) == 0) std::swap(stream[rng.below(stream.size())], stream[rng.below(stream.size())]);
    const Executions executions = planned.executions();
    if (!executions.some()) {
      EXPECT_TRUE(has(planned.order(), Kind::Deadlock));
    } else {
      EXPECT_EQ(executions.breaks_edges(), has(planned.order(), Kind::Order)) << round;
      // Accesses may be in the wrong order without harm, if nobody reads the result.
      EXPECT_TRUE(!executions.spoils_memory() || !planned.memory().empty()) << round;
    }
    wrong += executions.breaks_edges() ? 1 : 0;
  }
  EXPECT_GT(wrong, 200);
}

}  // namespace
}  // namespace isomer
