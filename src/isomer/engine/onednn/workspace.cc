#include "isomer/engine/onednn/workspace.h"

#include <oneapi/dnnl/dnnl_debug.h>

#include <algorithm>
#include <cassert>

#include "isomer/base/parallel.h"
#include "isomer/base/printable.h"
#include "isomer/base/stopwatch.h"
#include "isomer/engine/onednn/threads.h"

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
      boxes_(program.boxes),
      inputs_(program.graph.inputs().size(), nullptr),
      outputs_(program.graph.outputs().size(), nullptr),
      waits_(program.order.streams.empty() ? 0 : program.kernels.size()),
      ended_(waits_.size()),
      positions_(program.order.streams.size(), 0) {
  for (size_t s = 0; s < std::max<size_t>(program.order.streams.size(), 1); ++s) streams_.emplace_back(program.engine);
  for (const Synchronization& one : program.order.synchronizations) waits_[one.after].push_back(one.before);
  for (const ConstantData& constant : program.constants) constants_.push_back(constant.address());
  for (const Kernel& kernel : program.kernels) bind(kernel);
  if (!program.order.streams.empty()) divide_into_stages();
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

Status Workspace::run_some(size_t begin, size_t end, std::span<const Tensor> inputs, std::span<Tensor> outputs,
                           std::vector<KernelSpan>* spans) {
  leave_core_to_leader(std::max(team_, static_cast<size_t>(current_threads())));
  bind_inputs(inputs, outputs);
  // The arena of a program on streams is not laid out for another order.
  assert(program_.order.streams.empty() || (begin == 0 && end == program_.kernels.size()));
  ISOMER_CHECK(program_.order.streams.empty() ? run_kernels(begin, end, spans) : run_streams(spans));
  take_boxes(outputs);
  return {};
}

Result<size_t> Workspace::run_from(size_t begin, double us, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Stopwatch watch;
  leave_core_to_leader(std::max(team_, static_cast<size_t>(current_threads())));
  bind_inputs(inputs, outputs);
  const size_t end = program_.kernels.size();
  size_t next = begin;
  if (program_.order.streams.empty()) {
    while (next < end) {
      ISOMER_CHECK(launch_alone(next++));
      if (1e6 * watch.seconds() >= us) break;
    }
  } else {
    ISOMER_CHECK(run_streams(nullptr));
    next = end;
  }
  if (next == end) take_boxes(outputs);
  return next;
}

/// Moves the boxed outputs of a run to the caller, and drops all other boxes.
void Workspace::take_boxes(std::span<Tensor> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Location& at = program_.outputs[i];
    if (program_.buffers[at.buffer].place == Place::Box) outputs[i] = box(at);
  }
  for (Tensor& tensor : boxes_) tensor = Tensor();
}

void Workspace::bind_inputs(std::span<const Tensor> inputs, std::span<Tensor> outputs) {
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
}

Status Workspace::run_kernels(size_t begin, size_t end, std::vector<KernelSpan>* spans) {
  const auto start = Clock::now();
  const auto now = [&] { return std::chrono::duration<double, std::micro>(Clock::now() - start).count(); };
  double before = now();
  for (size_t k = begin; k < end; ++k) {
    ISOMER_CHECK(launch_alone(k));
    if (spans == nullptr) continue;
    const double after = now();
    spans->push_back({before, after - before});
    before = after;
  }
  return {};
}

void Workspace::divide_into_stages() {
  const auto& streams = program_.order.streams;
  const auto& kernels = program_.kernels;
  std::vector<size_t> ends(streams.size(), 0);
  // Always as many threads as kernels with several have: OpenMP would end those that a smaller team does not need.
  team_ = streams.size();
  for (const Kernel& kernel : kernels) team_ = std::max(team_, static_cast<size_t>(kernel.threads));
  for (size_t begin = 0, end = 0; begin < kernels.size(); begin = end) {
    Stage stage{.alone = kernels[begin].threads > 1};
    for (end = begin + 1; end < kernels.size() && !stage.alone && kernels[end].threads == 1;) ++end;
    for (size_t s = 0; s < streams.size(); ++s) {
      const size_t before = ends[s];
      while (ends[s] < streams[s].size() && streams[s][ends[s]] < end) ++ends[s];
      if (ends[s] > before) stage.streams = s + 1;
    }
    stage.ends = ends;
    stages_.push_back(std::move(stage));
  }
}

Status Workspace::run_streams(std::vector<KernelSpan>* spans) {
  ++run_;
  std::ranges::fill(positions_, 0);
  failed_ = false;
  thrown_ = nullptr;
  if (spans != nullptr) spans->assign(program_.kernels.size(), {});
  const Run run{Clock::now(), spans};
  for (const Stage& stage : stages_) {
    if (failed_) break;
    if (stage.alone) {
      const ThreadScope all(program_.kernels[program_.order.streams[0][positions_[0]]].threads);
      run_next(0, run);
    } else {
      const size_t team = stage.streams > 1 ? team_ : 1;
      done_ = 0;
      as_team(team, [&](size_t thread, size_t threads) { run_some_streams(stage, thread, threads, run); });
    }
  }
  if (thrown_) std::rethrow_exception(thrown_);
  if (failed_) return fail_in(title(program_, program_.kernels[failed_kernel_]), failure_.error());
  return {};
}

/// Runs the streams of a thread of the team: one, unless the system has fewer threads than there are streams.
void Workspace::run_some_streams(const Stage& stage, size_t thread, size_t threads, const Run& run) {
  const ThreadScope one(1);
  size_t left = 0;
  for (size_t s = thread; s < stage.streams; s += threads) left += stage.ends[s] - positions_[s];
  for (size_t idle = 0; left > 0 && !failed_.load(std::memory_order_relaxed);) {
    bool waits = true;
    for (size_t s = thread; s < stage.streams; s += threads) {
      if (positions_[s] == stage.ends[s] || !is_ready(program_.order.streams[s][positions_[s]])) continue;
      if (threads > 1)
        apart([&] { run_next(s, run); });
      else
        run_next(s, run);
      --left;
      waits = false;
    }
    idle = waits ? idle + 1 : 0;
    if (waits) wait_briefly(idle);
  }
  // OpenMP's own wait for the others does not yield the core that they may need.
  done_.fetch_add(1);
  for (size_t tries = 0; done_.load() < threads; ++tries) wait_briefly(tries);
}

void Workspace::run_next(size_t stream, const Run& run) {
  const size_t kernel = program_.order.streams[stream][positions_[stream]++];
  const double before = run.spans == nullptr ? 0 : run.now();
  if (const auto status = caught_launch(kernel, stream); !status) return fail_with(kernel, status);
  if (run.spans != nullptr) (*run.spans)[kernel] = {before, run.now() - before, stream};
  ended_[kernel].store(run_, std::memory_order_release);
}

/// Keeps what a kernel throws for the calling thread.
Status Workspace::caught_launch(size_t kernel, size_t stream) {
  try {
    if (disturbance_) disturbance_(kernel);
    return launch(kernel, stream);
  } catch (...) {
    const std::lock_guard lock(failing_);
    thrown_ = std::current_exception();
    return fail("it threw an exception");
  }
}

bool Workspace::is_ready(size_t kernel) const {
  return std::ranges::all_of(waits_[kernel],
                             [&](uint32_t before) { return ended_[before].load(std::memory_order_acquire) == run_; });
}

/// Keeps the failure of the kernel that comes first in the program, and ends all streams.
void Workspace::fail_with(size_t kernel, const Status& status) {
  const std::lock_guard lock(failing_);
  if (failed_ && failed_kernel_ < kernel) return;
  failed_kernel_ = kernel;
  failure_ = status;
  failed_ = true;
}

Status Workspace::launch_alone(size_t kernel) {
  const Status status = launch(kernel, 0);
  return status ? Status() : fail_in(title(program_, program_.kernels[kernel]), status.error());
}

Status Workspace::launch(size_t kernel, size_t stream) {
  const Kernel& one = program_.kernels[kernel];
  if (one.function) return one.function(*this);
  const auto& arguments = arguments_[kernel];
  const auto status = dnnl_primitive_execute(one.primitive.get(), streams_[stream].get(),
                                             static_cast<int>(arguments.size()), arguments.data());
  if (status != dnnl_success) return fail("oneDNN: {}", dnnl_status2str(status));
  return {};
}

}  // namespace isomer::onednn
