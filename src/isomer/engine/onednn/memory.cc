#include "isomer/engine/onednn/memory.h"

#include <algorithm>
#include <numeric>

namespace isomer::onednn {
namespace {

/// Returns the bytes of a value; 0 if its extents depend on data, and for text.
size_t bytes_of(const TensorType& type) { return Tensor::byte_size(type).value_or(0); }

/// Returns the size of a reference kernel's results before they are copied into the arena; 0 for other kernels.
size_t results_of(const Program& program, const Kernel& kernel) {
  size_t bytes = 0;
  if (kernel.implementation != "reference") return bytes;
  for (const ValueId value : kernel.values) bytes += bytes_of(program.graph.type(value));
  return bytes;
}

/// Returns the maximum size of such results at the same time: each stream may have those of one kernel.
size_t reference_results(const Program& program) {
  std::vector<size_t> stream(program.kernels.size(), 0);
  for (size_t s = 0; s < program.order.streams.size(); ++s)
    for (const TaskId kernel : program.order.streams[s]) stream[kernel] = s;
  std::vector<size_t> largest(std::max<size_t>(program.order.streams.size(), 1), 0);
  for (size_t k = 0; k < program.kernels.size(); ++k)
    largest[stream[k]] = std::max(largest[stream[k]], results_of(program, program.kernels[k]));
  return std::reduce(largest.begin(), largest.end());
}

}  // namespace

size_t bytes_touched(const Program& program, const Kernel& kernel) {
  size_t bytes = 0;
  if (!kernel.primitive) {
    for (const Touch& touch : kernel.touches) bytes += program.buffers[touch.buffer].bytes;
    return bytes;
  }
  for (const Argument& argument : kernel.arguments)
    if (argument.number != DNNL_ARG_SCRATCHPAD) bytes += argument.at.desc.get_size();
  return bytes;
}

ActivationMemory activation_memory(const Program& program) {
  ActivationMemory memory{.arena = program.arena_bytes};
  for (const Buffer& buffer : program.buffers) {
    if (buffer.place == Place::Input) memory.inputs += buffer.bytes;
    if (buffer.place == Place::Output) memory.outputs += buffer.bytes;
  }
  for (const Kernel& kernel : program.kernels) {
    for (const Argument& argument : kernel.arguments)
      if (argument.number == DNNL_ARG_SCRATCHPAD)
        memory.scratch = std::max(memory.scratch, program.buffers[argument.at.buffer].bytes);
  }
  memory.results = reference_results(program);
  return memory;
}

}  // namespace isomer::onednn
