#include "isomer/engine/onednn/plan.h"

#include <algorithm>

#include "isomer/engine/onednn/canonical.h"
#include "isomer/engine/onednn/lease.h"
#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/memory.h"
#include "isomer/engine/onednn/partial_run.h"
#include "isomer/engine/onednn/plan_state.h"
#include "isomer/engine/onednn/streams.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/eval/executor.h"
#include "isomer/ir/label.h"
#include "isomer/plan/divisions.h"
#include "isomer/plan/recomputation.h"

namespace isomer::onednn {

namespace {

/// Returns an Error that names the first value with more axes than oneDNN's memory descriptions support.
Status check_ranks(const Graph& graph) {
  for (ValueId value = 0; value < graph.num_values(); ++value) {
    const TensorType& type = graph.type(value);
    if (type.shape && type.rank() > DNNL_MAX_NDIMS)
      return fail("{}: a tensor of rank {}; oneDNN takes at most {}", node_label(graph, graph.producer(value)),
                  type.rank(), DNNL_MAX_NDIMS);
  }
  return {};
}

}  // namespace

Status check_inputs(const Graph& graph, std::span<const Tensor> inputs) {
  if (inputs.size() != graph.inputs().size())
    return fail("the plan has {} inputs, got {}", graph.inputs().size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorType& want = graph.type(graph.inputs()[i]);
    if (inputs[i].empty() || (want.known() && inputs[i].type() != want))
      return fail("input {} is {}, the plan is for {}", i, inputs[i].type().str(), want.str());
  }
  return {};
}

std::vector<Tensor> empty_outputs(const Program& program, BytePool* pool) {
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    if (program.buffers[program.outputs[i].buffer].place == Place::Box) {
      outputs.emplace_back();
      continue;
    }
    const TensorType& type = program.graph.type(program.graph.outputs()[i]);
    outputs.push_back(Tensor::uninitialized(type.dtype, *concrete(*type.shape), pool));
  }
  return outputs;
}

size_t output_bytes(const Program& program) {
  size_t bytes = 0;
  for (size_t i = 0; i < program.outputs.size(); ++i)
    if (program.buffers[program.outputs[i].buffer].place != Place::Box)
      bytes += *Tensor::byte_size(program.graph.type(program.graph.outputs()[i]));
  return bytes;
}

std::string library_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

std::shared_ptr<Tuner> make_tuner(bool measure, std::shared_ptr<TuningStore> kept) {
  return std::make_shared<Tuner>(measure, std::move(kept));
}

Plan::Plan(std::unique_ptr<PlanState> state) : state_(std::move(state)) {}
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

Status check_dtype(DType dtype) {
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto bf16 = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  if (dtype == DType::Float || (dtype == DType::BFloat16 && (isa & bf16) == bf16)) return {};
  if (dtype == DType::BFloat16)
    return fail("this processor has no bf16 arithmetic (AVX512_BF16); leave --dtype at f32");
  return fail("plans compute in f32 or bf16, not in {}", dtype_name(dtype));
}

Result<Plan> Plan::make(const Graph& graph, std::span<const TensorType> inputs, const PlanOptions& options,
                        const std::shared_ptr<Tuner>& tuner) {
  if (inputs.size() != graph.inputs().size())
    return fail("the graph has {} inputs, got {}", graph.inputs().size(), inputs.size());
  if (options.streams > 1 && options.threads > 1) return fail("with several streams, leave threads at 1");
  if (!options.decisions.computations.empty()) {
    Candidate twice = with_recomputation({graph, options.decisions}).candidate;
    PlanOptions once = options;
    once.decisions = std::move(twice.decisions);
    return make(twice.graph, inputs, once, tuner);
  }
  ISOMER_CHECK(runnable(graph));
  ISOMER_CHECK(check_dtype(options.dtype));
  ISOMER_CHECK(check_threads(options.most_threads()));
  ISOMER_TRY(Candidate canonical, canonicalize(graph, inputs, options.decisions));
  if (options.streams > 1 && !canonical.decisions.divisions.empty()) {
    const Candidate parts = with_divisions(canonical, static_cast<size_t>(options.streams));
    ISOMER_TRY(canonical, canonicalize(parts.graph, inputs, parts.decisions));  // folds parts of constants
  }
  const Status ranks = check_ranks(canonical.graph);
  const ThreadScope threads(options.threads);
  try {
    const auto streams = static_cast<size_t>(options.streams);
    const std::shared_ptr<Tuner> known = tuner == nullptr ? make_tuner(options.tune) : tuner;
    Lowering how{.dtype = options.dtype};
    if (streams > 1 && options.stages) {
      ISOMER_TRY(const Program draft, lower(canonical, known, {.dtype = options.dtype, .draft = true}));
      how.threads = threads_by_group(draft, canonical.decisions.teams, streams);
    }
    ISOMER_TRY(Program program, lower(std::move(canonical), known, how));
    if (streams > 1) ISOMER_CHECK(order_on_streams(program, streams));
    auto state = std::make_unique<PlanState>();
    state->outputs.emplace(output_bytes(program));
    state->program = std::move(program);
    state->options = options;
    return Plan(std::move(state));
  } catch (const dnnl::error& error) {
    ISOMER_CHECK(ranks);  // the likely reason, which oneDNN does not name
    return fail("oneDNN: {}", error.message);
  }
}

Result<std::vector<Tensor>> Plan::run(std::span<const Tensor> inputs) const {
  std::vector<Tensor> outputs = empty_outputs(state_->program, &*state_->outputs);
  ISOMER_CHECK(run(inputs, outputs));
  return outputs;
}

Status Plan::run(std::span<const Tensor> inputs, std::span<Tensor> outputs) const {
  ISOMER_CHECK(check_inputs(state_->program.graph, inputs));
  ISOMER_CHECK(check_threads(state_->options.most_threads()));
  const ThreadScope threads(state_->options.threads);
  const Lease workspace(*state_);
  return workspace->run(inputs, outputs);
}

Result<std::unique_ptr<PartialRun>> Plan::begin(std::span<const Tensor> inputs) const {
  ISOMER_CHECK(check_inputs(state_->program.graph, inputs));
  return std::make_unique<PartialRun>(*state_, inputs);
}

Result<TracedRun> Plan::trace(std::span<const Tensor> inputs) const {
  ISOMER_CHECK(check_inputs(state_->program.graph, inputs));
  ISOMER_CHECK(check_threads(state_->options.most_threads()));
  const ThreadScope threads(state_->options.threads);
  const Lease workspace(*state_);
  TracedRun traced{empty_outputs(state_->program, &*state_->outputs), std::chrono::steady_clock::now(), {}};
  ISOMER_CHECK(workspace->run(inputs, traced.outputs, &traced.kernels));
  return traced;
}

std::vector<PlanKernel> Plan::kernels() const {
  std::vector<PlanKernel> kernels;
  for (const Kernel& kernel : state_->program.kernels) {
    std::string layout;
    for (const Argument& argument : kernel.arguments)
      if (argument.number == DNNL_ARG_DST) layout = layout_str(argument.at.desc);
    const std::string value = kernel.values.empty() ? "" : state_->program.graph.name(kernel.values.front());
    kernels.push_back(
        {kernel.name, kernel.implementation, layout, value, bytes_touched(state_->program, kernel), kernel.threads});
  }
  return kernels;
}

ActivationMemory Plan::memory() const { return activation_memory(state_->program); }
int Plan::threads() const { return state_->options.threads; }
size_t Plan::streams() const { return std::max<size_t>(state_->program.order.streams.size(), 1); }

std::vector<TensorType> Plan::output_types() const {
  std::vector<TensorType> types;
  for (const ValueId output : state_->program.graph.outputs()) types.push_back(state_->program.graph.type(output));
  return types;
}

}  // namespace isomer::onednn
