#pragma once
// The devices of the papers, described for the roofline model.

#include "isomer/cost/roofline.h"

namespace isomer {

struct DescribedDevice {
  const char* name;
  RooflineOptions roofline;

  /// "the roofline of a V100 (15.7 TFLOP/s, 900 GB/s, 5 us per kernel)".
  std::string text() const;
};

// Peak rates in single precision and bandwidths are those of NVIDIA's data sheets. Launching a kernel is assumed to
// take 5 us.
DescribedDevice v100();
DescribedDevice p100();
DescribedDevice k80();  ///< one of its two GPUs, at its base clock

}  // namespace isomer
