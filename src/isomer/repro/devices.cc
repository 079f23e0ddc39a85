#include "isomer/repro/devices.h"

#include <fmt/format.h>

namespace isomer {
namespace {

DescribedDevice device(const char* name, double flops_per_second, double bytes_per_second) {
  return {name, {.flops_per_second = flops_per_second, .bytes_per_second = bytes_per_second, .kernel_overhead_us = 5}};
}

}  // namespace

std::string DescribedDevice::text() const {
  return fmt::format("the roofline of a {} ({:.1f} TFLOP/s, {:.0f} GB/s, {:.0f} us per kernel)", name,
                     roofline.flops_per_second / 1e12, roofline.bytes_per_second / 1e9, roofline.kernel_overhead_us);
}

DescribedDevice v100() { return device("V100", 15.7e12, 900e9); }
DescribedDevice p100() { return device("P100", 9.3e12, 732e9); }
DescribedDevice k80() { return device("K80", 2.8e12, 240e9); }

}  // namespace isomer
