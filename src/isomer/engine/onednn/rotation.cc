#include "isomer/engine/onednn/rotation.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "isomer/engine/onednn/plan_state.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

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

}  // namespace

struct Rotation::State {
  State(const PlanState& planned, size_t first_kernels)
      : plan(planned), kernels(first_kernels), outputs(empty_outputs(planned.program)) {}

  const PlanState& plan;
  const size_t kernels;
  std::vector<std::unique_ptr<Workspace>> workspaces = {};
  std::vector<Tensor> outputs;
  ConstantPool pool = {};
  std::vector<std::vector<std::byte*>> copies = {};  // addresses of all constants, by copy
  size_t group = 1;                                  // number of copies in a group
  size_t rounds = 1;
  size_t runs = 0;

  size_t turn() const { return group * rounds; }
  size_t copy() const { return runs / turn() * group % copies.size() + runs % turn() % group; }
};

Rotation::Rotation(const Plan& plan, const Options& options) {
  const PlanState& planned = plan.state();
  state_ = std::make_unique<State>(planned, std::min(options.kernels, planned.program.kernels.size()));
  for (size_t i = 0; i < std::max(options.arenas, size_t{1}); ++i)
    state_->workspaces.push_back(std::make_unique<Workspace>(planned.program));
  const std::vector<size_t> sizes = constant_bytes(planned.program);
  const size_t one = std::reduce(sizes.begin(), sizes.end(), size_t{1});
  const size_t max_copies = std::max(options.max_bytes / one, size_t{1});
  state_->group = std::clamp(options.copies, size_t{1}, max_copies);
  state_->rounds = std::max(options.rounds, size_t{1});
  const size_t count = state_->group * std::clamp(options.groups, size_t{1}, max_copies / state_->group);
  for (size_t i = 0; i < count; ++i) {
    auto& copy = state_->copies.emplace_back();
    for (size_t c = 0; c < sizes.size(); ++c) {
      std::byte* const original = planned.program.constants[c].address();
      copy.push_back(count == 1 || sizes[c] == 0 ? original : state_->pool.allocate(sizes[c]));
      if (copy.back() != original) std::memcpy(copy.back(), original, sizes[c]);
    }
  }
}

Rotation::~Rotation() = default;

Result<std::vector<KernelSpan>> Rotation::run(std::span<const Tensor> inputs) {
  ISOMER_CHECK(check_inputs(state_->plan.program.graph, inputs));
  const ThreadScope threads(state_->plan.options.threads);
  Workspace& workspace = *state_->workspaces[state_->runs % state_->workspaces.size()];
  workspace.read_constants(state_->copies[state_->copy()]);
  ++state_->runs;
  std::vector<KernelSpan> spans;
  spans.reserve(state_->kernels);
  ISOMER_CHECK(workspace.run_first(state_->kernels, inputs, state_->outputs, &spans));
  return spans;
}

size_t Rotation::copies() const { return state_->group; }

size_t Rotation::cycle() const { return state_->copies.size() * state_->rounds; }

bool Rotation::next_returns() const { return state_->rounds > 1 && state_->runs % state_->turn() < state_->group; }

}  // namespace isomer::onednn
