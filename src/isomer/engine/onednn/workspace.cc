#include "isomer/engine/onednn/workspace.h"

#include <oneapi/dnnl/dnnl_debug.h>

#include <chrono>

#include "isomer/base/printable.h"

namespace isomer::onednn {

namespace {

/// "node 'y' (Conv+Relu)".
std::string title(const Program& program, const Kernel& kernel) {
  const std::string name = kernel.values.empty() ? "" : program.graph.name(kernel.values.front());
  const std::string operators = printable(kernel.name);
  return name.empty() ? operators : fmt::format("node '{}' ({})", printable(name), operators);
}

}  // namespace

Workspace::Workspace(const Program& program)
    : program_(program),
      arena_(program.arena_bytes),
      stream_(program.engine),
      boxes_(program.boxes),
      inputs_(program.graph.inputs().size(), nullptr),
      outputs_(program.graph.outputs().size(), nullptr) {
  for (const ConstantData& constant : program.constants) constants_.push_back(constant.address());
  for (const Kernel& kernel : program.kernels) bind(kernel);
}

Workspace::~Workspace() = default;

void Workspace::bind(const Kernel& kernel) {
  std::vector<dnnl_exec_arg_t> arguments;
  for (const Argument& argument : kernel.arguments) {
    const Place place = program_.buffers[argument.at.buffer].place;
    const bool later = place == Place::Input || place == Place::Output;
    memories_.emplace_back(argument.at.desc, program_.engine, later ? DNNL_MEMORY_NONE : address(argument.at));
    arguments.push_back({argument.number, memories_.back().get()});
    if (later) rebound_.push_back({memories_.back().get(), argument.at});
    if (place == Place::Constant) constant_.push_back({memories_.back().get(), argument.at});
  }
  arguments_.push_back(std::move(arguments));
}

std::byte* Workspace::address(const Location& location) const {
  const Buffer& buffer = program_.buffers[location.buffer];
  switch (buffer.place) {
    case Place::Arena:
      return arena_.data() + buffer.index + location.offset;
    case Place::Constant:
      return constants_[buffer.index] + location.offset;
    case Place::Input:
      return inputs_[buffer.index] + location.offset;
    case Place::Output:
      return outputs_[buffer.index] + location.offset;
    case Place::Box:
      break;
  }
  return nullptr;
}

void Workspace::read_constants(std::span<std::byte* const> addresses) {
  constants_.assign(addresses.begin(), addresses.end());
  for (const Rebound& one : constant_) dnnl_memory_set_data_handle(one.memory, address(one.at));
}

Tensor& Workspace::box(const Location& location) { return boxes_[program_.buffers[location.buffer].index]; }

Status Workspace::run_first(size_t kernels, std::span<const Tensor> inputs, std::span<Tensor> outputs,
                            std::vector<KernelSpan>* spans) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (const Buffer& buffer : program_.buffers) {
    // Kernels never write to inputs; oneDNN has one type for both.
    if (buffer.place == Place::Input)
      inputs_[buffer.index] = const_cast<std::byte*>(inputs[buffer.index].bytes().data());
    if (buffer.place == Place::Output) outputs_[buffer.index] = outputs[buffer.index].mutable_bytes().data();
  }
  for (size_t i = 0; i < program_.graph.inputs().size(); ++i) {
    const Location& at = program_.inputs[i];
    if (program_.buffers[at.buffer].place == Place::Box) box(at) = inputs[i];
  }
  for (const Rebound& one : rebound_) dnnl_memory_set_data_handle(one.memory, address(one.at));
  const auto now = [&] { return std::chrono::duration<double, std::micro>(Clock::now() - start).count(); };
  double before = now();
  for (size_t k = 0; k < kernels; ++k) {
    if (auto status = launch(k); !status) return fail_in(title(program_, program_.kernels[k]), status.error());
    if (spans == nullptr) continue;
    const double after = now();
    spans->push_back({before, after - before});
    before = after;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Location& at = program_.outputs[i];
    if (program_.buffers[at.buffer].place == Place::Box) outputs[i] = box(at);
  }
  for (Tensor& tensor : boxes_) tensor = Tensor();
  return {};
}

Status Workspace::launch(size_t kernel) {
  const Kernel& one = program_.kernels[kernel];
  if (one.function) return one.function(*this);
  const auto& arguments = arguments_[kernel];
  const auto status =
      dnnl_primitive_execute(one.primitive.get(), stream_.get(), static_cast<int>(arguments.size()), arguments.data());
  if (status != dnnl_success) return fail("oneDNN: {}", dnnl_status2str(status));
  return {};
}

}  // namespace isomer::onednn
