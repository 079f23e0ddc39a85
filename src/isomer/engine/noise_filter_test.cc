#include "isomer/engine/noise_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace isomer {
namespace {

/// A machine whose probes take these times, one after the other; the last one as often as needed.
struct Machine {
  std::vector<double> probes;
  std::vector<double> times = {};  // of consecutive measurements
  size_t probed = 0;
  size_t measured = 0;
  NoiseFilter noise_filter{[this] { return probes[std::min(probed++, probes.size() - 1)]; }};

  double time() {
    return noise_filter.time([this]() -> Result<KernelTime> { return KernelTime{.us = times.at(measured++)}; })->us;
  }
};

TEST(NoiseFilter, TakesTheFirstTimeOfAQuietMachine) {
  Machine machine{{1, 1.01}, {5}};
  EXPECT_EQ(machine.time(), 5);
  EXPECT_EQ(machine.probed, 2U);
}

TEST(NoiseFilter, WaitsForAQuietMachine) {
  Machine machine{{1, 1, 1.4, 1.4, 1.4, 1, 1}, {5, 6}};
  EXPECT_EQ(machine.time(), 5);
  EXPECT_EQ(machine.time(), 6);
  EXPECT_EQ(machine.probed, 7U);
  EXPECT_EQ(machine.measured, 2U) << "nothing is measured while the machine is not quiet";
}

TEST(NoiseFilter, MeasuresAgainWhatWasDisturbed) {
  Machine machine{{1, 1, 1, 1, /**/ 1, 1.4, /**/ 1.4, 1, 1.4, /**/ 1}, {8, 7, /**/ 5, 4, 3}};
  machine.time();
  machine.time();
  EXPECT_EQ(machine.time(), 3);
  EXPECT_EQ(machine.measured, 5U);
}

TEST(NoiseFilter, ComparesWithUsualSpeedAndNotWithTheHighest) {
  Machine machine{{1, 1.2}, std::vector<double>(10, 5)};
  for (int i = 0; i < 5; ++i) machine.time();
  EXPECT_LE(machine.measured, 6U) << "the machine was faster only once";
  const size_t before = machine.measured;
  machine.time();
  EXPECT_EQ(machine.measured, before + 1);
}

TEST(NoiseFilter, TakesTheQuietestTimeOfAMachineThatStaysDisturbed) {
  double probe = 1;
  NoiseFilter noise_filter([&] { return probe; });
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(noise_filter.time([]() -> Result<KernelTime> { return KernelTime{}; }));
  probe = 2;
  int measured = 0;
  const auto time = noise_filter.time([&]() -> Result<KernelTime> {
    ++measured;
    probe = measured == 3 || measured == 4 ? 1.5 : 2;  // behind the third one; before and behind the fourth one
    return KernelTime{.us = 10.0 - measured};
  });
  EXPECT_NEAR(time->us, 6 / std::pow(1.5, 0.8), 1e-9) << "not the shortest, which caches may have made so";
  EXPECT_EQ(measured, 8);
}

TEST(NoiseFilter, FailsWithTheMeasurement) {
  NoiseFilter noise_filter([] { return 1.0; });
  const auto time = noise_filter.time([]() -> Result<KernelTime> { return fail("no kernel"); });
  ASSERT_FALSE(time);
  EXPECT_EQ(time.error().message, "no kernel");
}

TEST(NoiseFilter, ArithmeticTakesTimeOnAnyNumberOfThreads) {
  EXPECT_GT(arithmetic_probe(1)(), 0);
  EXPECT_GT(arithmetic_probe(2)(), 0);
}

}  // namespace
}  // namespace isomer
