#include "isomer/engine/onednn/memory.h"

#include <algorithm>

namespace isomer::onednn {
namespace {

/// Returns the bytes of a value; 0 if its extents depend on data, and for text.
size_t bytes_of(const TensorType& type) {
  const auto dims = type.known() && type.dtype != DType::String ? concrete(*type.shape) : std::nullopt;
  return dims ? Tensor::byte_size(type.dtype, *dims) : 0;
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
    if (kernel.implementation != "reference") continue;
    size_t results = 0;
    for (const ValueId value : kernel.values) results += bytes_of(program.graph.type(value));
    memory.results = std::max(memory.results, results);
  }
  return memory;
}

}  // namespace isomer::onednn
