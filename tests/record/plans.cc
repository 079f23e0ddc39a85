// plans MODEL [NAME:1,3,224,224 | N=8]...: the plan that the built-in runtime makes of a model: kernels in their order,
// with implementation, layout and bytes, and the memory. No algorithm is chosen by timing it. For record.py, whose
// figures must be the same on every processor: kernels with much scratch memory size it by the caches, so neither that
// nor the arena, which holds it, is printed then.

#include <cstdlib>

#include "isomer/engine/inputs.h"
#include "isomer/engine/onednn/plan.h"
#include "isomer/onnx/import.h"
#include "isomer/onnx/input_file.h"

namespace {

isomer::Status print_plan(const char* path, std::span<char*> shapes) {
  isomer::ShapeOptions options;
  for (const char* shape : shapes) ISOMER_CHECK(isomer::add_shape_option(shape, options));
  ISOMER_TRY(const isomer::Model model, isomer::import_model(path));
  ISOMER_TRY(const isomer::SymbolValues symbols, isomer::symbol_values(model, options));
  ISOMER_TRY(const auto inputs, isomer::concrete_inputs(model.graph, symbols));
  const auto plan = isomer::onednn::Plan::make(model.graph, inputs, {.tune = false});
  if (!plan) {
    fmt::print("no plan: {}\n", plan.error().message);
    return {};
  }
  const isomer::ActivationMemory memory = plan->memory();
  const auto kernels = plan->kernels();
  constexpr size_t kMaxScratch = 16384;
  const std::string arena = memory.scratch <= kMaxScratch
                                ? fmt::format("arena {}, scratch {}", memory.arena, memory.scratch)
                                : "much scratch";
  fmt::print("{} kernels, {}, inputs {}, outputs {}, results {}\n", kernels.size(), arena, memory.inputs,
             memory.outputs, memory.results);
  for (const isomer::onednn::PlanKernel& kernel : kernels)
    fmt::print("{} {} {} {}\n", kernel.name, kernel.implementation, kernel.layout, kernel.bytes);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: {} MODEL [SHAPE ...]\n", argv[0]);
    return 2;
  }
  isomer::map_input_files();
  const isomer::Status done = print_plan(argv[1], std::span(argv + 2, argv + argc));
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? EXIT_SUCCESS : 2;
}
