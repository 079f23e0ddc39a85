#include "isomer/engine/noise_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace isomer {
namespace {

constexpr double kMeasureSeconds = 0.01, kProbeSeconds = 0.001;
constexpr double kPause = 0.02;  // after which the last probe says nothing any more

/// A clock, and the times of the next probes: of a list, and after it always the last one.
struct Machine {
  std::vector<double> probes;
  double now = 0;
  size_t probed = 0;
  NoiseFilter noise_filter{[this] {
                             now += kProbeSeconds;
                             return probes[std::min(probed++, probes.size() - 1)];
                           },
                           [this] { return now; }};

  std::optional<double> watch(double pause = kPause) {
    now += pause;
    return noise_filter.watch([this] { now += kMeasureSeconds; });
  }
};

/// Those of a quiet machine in `measurements` measurements, then others.
std::vector<double> quiet_and(size_t measurements, const std::vector<double>& others) {
  std::vector<double> probes(2 * measurements, 1);
  probes.insert(probes.end(), others.begin(), others.end());
  return probes;
}

TEST(NoiseFilter, WaitsForAQuietMachine) {
  Machine machine{quiet_and(4, {1.5, 1.5, 1.5, 1, 1})};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(machine.watch(), 1);
  EXPECT_EQ(machine.probed, 13U);
}

TEST(NoiseFilter, RepeatsWhatWasDisturbed) {
  Machine machine{quiet_and(4, {/**/ 1, 1.5, /**/ 1.5, 1, 1})};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(machine.watch(), 1);
  EXPECT_EQ(machine.watch(), std::nullopt);
  EXPECT_EQ(machine.watch(), 1);
}

TEST(NoiseFilter, CorrectsWhenOtherLoadLasts) {
  Machine machine{quiet_and(1000, {1.5})};
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(machine.watch(), 1);
  const double begin = machine.now;
  std::optional<double> slowdown;
  while (!slowdown) slowdown = machine.watch();
  EXPECT_NEAR(*slowdown, std::pow(1.5, 0.8), 1e-9);
  EXPECT_NEAR(machine.now - begin, 2, 0.6);
  const double later = machine.now;
  machine.watch();
  EXPECT_LT(machine.now - later, 0.1) << "nothing is left to wait for";
}

TEST(NoiseFilter, ProbesOnceBetweenMeasurementsThatFollowOneAnother) {
  Machine machine{quiet_and(4, {})};
  for (int i = 0; i < 4; ++i) machine.watch();
  EXPECT_EQ(machine.watch(0), 1);
  EXPECT_EQ(machine.watch(0), 1);
  EXPECT_EQ(machine.probed, 10U);
  EXPECT_EQ(machine.watch(), 1);
  EXPECT_EQ(machine.probed, 12U) << "the last one says nothing any more";
}

TEST(NoiseFilter, ComparesWithUsualSpeedAndNotWithTheHighest) {
  Machine machine{{1, 1.2}};
  for (int i = 0; i < 5; ++i) machine.watch();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(machine.watch(), 1) << "the machine was faster only once";
}

TEST(NoiseFilter, RepeatsAndCorrectsTimes) {
  Machine machine{quiet_and(1000, {1, 1.5, /**/ 1, 1})};
  for (int i = 0; i < 1000; ++i) machine.watch();
  machine.now += kPause;
  double us = 8;
  const NoiseFilter::Measure measure = [&]() -> Result<KernelTime> { return KernelTime{.us = us++, .spread = 3}; };
  EXPECT_EQ(machine.noise_filter.time(measure)->us, 9);
  machine.probes.push_back(2);
  machine.noise_filter.watch([&] { machine.now += 100; });  // no more can be lost
  machine.now += kPause;
  const auto corrected = machine.noise_filter.time(measure);
  EXPECT_NEAR(corrected->us, 10 / std::pow(2, 0.8), 1e-9);
  EXPECT_NEAR(corrected->spread, 3 / std::pow(2, 0.8), 1e-9);
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
