#include "isomer/engine/noise_filter.h"

#include <gtest/gtest.h>

#include <vector>

namespace isomer {
namespace {

/// Returns the result for consecutive measurements with these times, when the probe takes `probes`.
double time_of(const std::vector<double>& times, const std::vector<double>& probes) {
  size_t probed = 0, measured = 0;
  NoiseFilter noise_filter([&] { return probes.at(probed++); });
  const auto time = noise_filter.time([&]() -> Result<KernelTime> { return KernelTime{.us = times.at(measured++)}; });
  EXPECT_EQ(probed, 2 * measured);
  EXPECT_LE(measured, 8U);
  return time->us;
}

TEST(NoiseFilter, TakesTheFirstTimeOfAQuietMachine) { EXPECT_EQ(time_of({5}, {1, 1.01}), 5); }

TEST(NoiseFilter, MeasuresAgainWhatWasDisturbedAtEitherEnd) {
  EXPECT_EQ(time_of({5, 4, 3}, {1, 1.4, 1.4, 1, 1, 1}), 3);
  EXPECT_EQ(time_of({5, 6}, {1, 1.4, 1, 1}), 6) << "an undisturbed time, though a longer one";
  EXPECT_EQ(time_of({5, 6}, {2, 1, 1, 1}), 6) << "the probe was always disturbed before";
}

TEST(NoiseFilter, TakesTheQuietestTimeOfAMachineThatIsNeverQuiet) {
  std::vector<double> probes(16, 2);
  probes[0] = 1;
  probes[6] = probes[7] = 1.5;
  EXPECT_EQ(time_of({9, 8, 7, 6, 5, 8, 9, 8}, probes), 6) << "not the shortest, which caches may have made so";
}

TEST(NoiseFilter, RemembersHowFastTheMachineIs) {
  std::vector<double> probes{1, 1, 1.4, 1.4, 1, 1};
  size_t probed = 0;
  NoiseFilter noise_filter([&] { return probes.at(probed++); });
  int measured = 0;
  const auto measure = [&]() -> Result<KernelTime> { return KernelTime{.us = static_cast<double>(++measured)}; };
  EXPECT_EQ(noise_filter.time(measure)->us, 1);
  EXPECT_EQ(noise_filter.time(measure)->us, 3);
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
