#include "isomer/engine/onednn/rotation.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>

#include "isomer/engine/kernels.h"
#include "isomer/engine/onednn/caches.h"
#include "isomer/engine/onednn/plan_state.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {

/// A buffer that timed kernels read.
struct ReadBuffer {
  Location at = {};
  bool overwritten = false;    // by them
  AlignedBytes contents = {};  // unless it is an input
};

namespace {

constexpr size_t kSmall = 4096;  // constants may be attributes, such as factors of a Resize

/// Returns how many bytes may stay in a cache while the rest of the ring is read. A third level that holds the complete
/// ring is shared with so many cores that little of it is left.
size_t cached_bytes() {
  constexpr auto kRing = static_cast<int64_t>(kFarthestWeights);
  constexpr int64_t kAtLeast = 32 << 20;
  const int64_t third = third_level_bytes();
  return static_cast<size_t>(third < kRing ? third : kAtLeast);
}

/// Returns the bytes of each constant of a program that its kernels read; 0 for others.
std::vector<size_t> constant_bytes(const Program& program) {
  std::vector<size_t> bytes(program.constants.size(), 0);
  for (const Kernel& kernel : program.kernels) {
    for (const Touch& touch : kernel.touches) {
      const Buffer& buffer = program.buffers[touch.buffer];
      if (buffer.place == Place::Constant) bytes[buffer.index] = buffer.bytes;
    }
  }
  return bytes;
}

bool overlap(const Buffer& a, const Buffer& b) {
  return a.place == Place::Arena && b.place == Place::Arena && a.index < b.index + b.bytes &&
         b.index < a.index + a.bytes;
}

/// Returns the inputs that kernels [makers, kernels) read, and the buffers that earlier ones write for them; nothing
/// if one of the earlier ones uses a box.
std::optional<std::vector<ReadBuffer>> operands_of(const Program& program, size_t makers, size_t kernels) {
  const auto& buffers = program.buffers;
  std::vector<bool> made(buffers.size(), false);
  for (size_t k = 0; k < makers; ++k)
    for (const Touch& touch : program.kernels[k].touches) {
      if (buffers[touch.buffer].place == Place::Box) return std::nullopt;
      if (touch.write) made[touch.buffer] = true;
    }
  for (BufferId id = 0; id < buffers.size(); ++id) made[id] = made[id] || buffers[id].place == Place::Input;
  std::vector<ReadBuffer> operands;
  std::vector<const Buffer*> written;
  for (size_t k = makers; k < kernels; ++k)
    for (const Touch& touch : program.kernels[k].touches) {
      if (touch.write) written.push_back(&buffers[touch.buffer]);
      if (touch.write || !made[touch.buffer]) continue;
      operands.push_back({{touch.buffer}});
      made[touch.buffer] = false;
    }
  for (ReadBuffer& operand : operands) {
    const Buffer& buffer = buffers[operand.at.buffer];
    operand.overwritten =
        std::ranges::any_of(written, [&](const Buffer* other) { return other == &buffer || overlap(*other, buffer); });
    if (buffer.place != Place::Input) operand.contents = AlignedBytes(buffer.bytes);
  }
  return operands;
}

/// Leaves bytes in the caches as a kernel does that has just written them, in the current number of threads; restores
/// them if `contents` are given.
void write_again(std::byte* bytes, size_t count, const std::byte* contents) {
  constexpr int64_t kLine = 64, kGrain = 1024;
  const auto end = static_cast<int64_t>(count);
  parallel_for((end + kLine - 1) / kLine, kGrain, [&](int64_t first, int64_t last) {
    if (contents != nullptr) {
      const int64_t begin = first * kLine;
      std::memcpy(bytes + begin, contents + begin, static_cast<size_t>(std::min(last * kLine, end) - begin));
      return;
    }
    for (int64_t line = first; line < last; ++line) {
      volatile std::byte& one = bytes[line * kLine];
      one = one;
    }
  });
}

}  // namespace

struct Rotation::State {
  State(const PlanState& planned, FarMemory& memory, const Options& options)
      : plan(planned),
        far(memory),
        kernels(std::min(options.kernels, planned.program.kernels.size())),
        outputs(empty_outputs(planned.program)) {
    assert(plan.program.order.streams.empty());
    makers = std::min(options.makers, kernels);
    auto read = operands_of(plan.program, makers, kernels);
    if (!read) read = operands_of(plan.program, makers = 0, kernels);
    operands = std::move(*read);
  }

  const PlanState& plan;
  FarMemory& far;
  const size_t kernels;
  size_t makers = 0;
  std::vector<ReadBuffer> operands = {};
  std::vector<std::unique_ptr<Workspace>> workspaces = {};
  std::vector<Tensor> outputs;
  ConstantPool pool = {};
  std::vector<size_t> far_bytes = {};                // of each constant that is lent from `far`, else 0
  std::vector<std::vector<std::byte*>> copies = {};  // addresses of all constants, by copy
  size_t lent = 0;                                   // number of copies that have all their addresses
  size_t group = 1;                                  // number of copies in a group
  size_t rounds = 1;
  size_t runs = 0;

  size_t turn() const { return group * rounds; }
  /// Returns the constants of the next run. Copies are lent memory when they are read first, which is in their order.
  const std::vector<std::byte*>& next_copy() {
    const size_t next = runs / turn() * group % copies.size() + runs % turn() % group;
    for (; lent <= next; ++lent)
      for (size_t c = 0; c < far_bytes.size(); ++c)
        if (far_bytes[c] > 0) copies[lent][c] = far.lend(far_bytes[c]);
    return copies[next];
  }
};

Rotation::Rotation(const Plan& plan, FarMemory& far, const Options& options) {
  const PlanState& planned = plan.state();
  state_ = std::make_unique<State>(planned, far, options);
  for (size_t i = 0; i < std::max(options.arenas, size_t{1}); ++i)
    state_->workspaces.push_back(std::make_unique<Workspace>(planned.program));
  const std::vector<size_t> sizes = constant_bytes(planned.program);
  const size_t one = std::reduce(sizes.begin(), sizes.end(), size_t{1});
  const size_t max_copies = std::max(options.max_bytes / one, size_t{1});
  state_->group = std::clamp(options.copies, size_t{1}, max_copies);
  state_->rounds = std::max(options.rounds, size_t{1});
  const size_t count = state_->group * std::clamp(options.groups, size_t{1}, max_copies / state_->group);
  std::vector<std::byte*> originals;
  for (const ConstantData& constant : planned.program.constants) originals.push_back(constant.address());
  state_->copies.assign(count, originals);
  if (count == 1) return;
  for (size_t c = 0; c < sizes.size(); ++c) {
    const bool is_far = planned.program.constants[c].replaceable && sizes[c] >= kSmall;
    state_->far_bytes.push_back(is_far ? sizes[c] : 0);
    if (is_far || sizes[c] == 0) continue;
    for (auto& copy : state_->copies) {
      copy[c] = state_->pool.allocate(sizes[c]);
      std::memcpy(copy[c], originals[c], sizes[c]);
    }
  }
  size_t bytes = 0, largest = 0;
  for (const size_t of_constant : state_->far_bytes) {
    bytes += count * FarMemory::whole(of_constant);
    largest = std::max(largest, FarMemory::whole(of_constant));
  }
  far.reserve(bytes + largest);  // the end of the ring may be skipped
  // In a model, so few weights may stay in a cache, but the next bytes of the ring were not read recently.
  if (bytes <= cached_bytes()) far.read_next(bytes);
}

Rotation::~Rotation() = default;

Result<std::vector<KernelSpan>> Rotation::run(std::span<Tensor> inputs) {
  for (Tensor& input : inputs) (void)input.mutable_bytes();  // not shared with another tensor
  ISOMER_CHECK(check_inputs(state_->plan.program.graph, inputs));
  const ThreadScope threads(state_->plan.options.threads);
  Workspace& workspace = *state_->workspaces[state_->runs % state_->workspaces.size()];
  workspace.read_constants(state_->next_copy());
  const bool first = state_->runs == 0, first_here = state_->runs < state_->workspaces.size();
  ++state_->runs;
  // Later, this only tells the workspace where the outputs are.
  ISOMER_CHECK(workspace.run_some(0, first ? state_->makers : 0, inputs, state_->outputs, nullptr));
  for (ReadBuffer& operand : state_->operands) {
    std::byte* const there = workspace.address(operand.at);
    AlignedBytes& contents = operand.contents;
    if (first && contents.size() > 0) std::memcpy(contents.data(), there, contents.size());
    const bool restores = contents.size() > 0 && (first_here || operand.overwritten);
    write_again(there, state_->plan.program.buffers[operand.at.buffer].bytes, restores ? contents.data() : nullptr);
  }
  std::vector<KernelSpan> spans(state_->makers);
  spans.reserve(state_->kernels);
  ISOMER_CHECK(workspace.run_some(state_->makers, state_->kernels, inputs, state_->outputs, &spans));
  return spans;
}

std::span<const Tensor> Rotation::outputs() const { return state_->outputs; }

size_t Rotation::copies() const { return state_->group; }

size_t Rotation::cycle() const { return state_->copies.size() * state_->rounds; }

bool Rotation::next_returns() const { return state_->rounds > 1 && state_->runs % state_->turn() < state_->group; }

}  // namespace isomer::onednn
