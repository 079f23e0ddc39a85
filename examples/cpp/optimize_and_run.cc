// Optimizes an ONNX model, then runs the model and the result on the same inputs.
//
//     optimize_and_run MODEL.onnx FASTER.onnx [ENGINE]
//
// ENGINE is what the model is optimized for: onednn (preset), ort, or roofline, which measures nothing.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "isomer/engine/engine.h"
#include "isomer/engine/inputs.h"
#include "isomer/onnx/import.h"
#include "isomer/optimize/optimize.h"

namespace {

/// The largest difference between the outputs of two models on one set of random inputs.
isomer::Result<double> difference(const std::string& before, const std::string& after) {
  ISOMER_TRY(const isomer::Model model, isomer::import_model(before));
  ISOMER_TRY(const auto inputs, isomer::random_inputs(model, /*options=*/{}, /*seed=*/1));
  ISOMER_TRY(const auto engine, isomer::make_engine("onednn", {.threads = 1}));
  ISOMER_TRY(const isomer::SessionId first, engine->load(before));
  ISOMER_TRY(const isomer::SessionId second, engine->load(after));
  ISOMER_TRY(const auto x, engine->run(first, inputs));
  ISOMER_TRY(const auto y, engine->run(second, inputs));
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].dtype() != isomer::DType::Float || x[i].type() != y[i].type())
      return isomer::fail("output {} is {} and {}", i, x[i].type().str(), y[i].type().str());
    const auto a = x[i].data<float>(), b = y[i].data<float>();
    for (size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(double{a[k]} - double{b[k]}));
  }
  return largest;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::fprintf(stderr, "usage: optimize_and_run MODEL.onnx FASTER.onnx [ENGINE]\n");
    return 2;
  }
  isomer::OptimizeOptions options;
  options.input = argv[1];
  options.output = argv[2];
  options.costs.engine = argc > 3 ? argv[3] : "onednn";
  const auto report = isomer::optimize(options);
  if (!report) {
    std::fprintf(stderr, "optimize_and_run: %s\n", report.error().message.c_str());
    return 1;
  }
  std::printf("%s\n", report->outcome.c_str());
  const auto largest = difference(argv[1], argv[2]);
  if (!largest) {
    std::fprintf(stderr, "optimize_and_run: %s\n", largest.error().message.c_str());
    return 1;
  }
  std::printf("largest difference %.9g\n", *largest);
  return 0;
}
