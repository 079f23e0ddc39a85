#include "isomer/engine/onednn/kernel.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "isomer/base/stats.h"
#include "isomer/base/stopwatch.h"
#include "isomer/engine/onednn/kernel_traits.h"
#include "isomer/engine/onednn/rotation.h"
#include "isomer/eval/random.h"
#include "isomer/ir/copy.h"
#include "isomer/ops/registry.h"
#include "isomer/plan/candidate.h"

namespace isomer {
namespace {

constexpr std::string_view kHarness = "harness";  // prefix of names that do not count
constexpr std::string_view kOperand = "operand";  // made by the harness
constexpr std::string_view kWeights = "weights";  // of a kernel, not constant: changes of layout count
constexpr std::string_view kResult = "result";
constexpr int64_t kChannels = 16;  // a multiple of every block
constexpr size_t kMinBlockedRank = 3;
constexpr size_t kMaxRunsOfCycle = 2000;  // if weights need more copies than this, they are read in no time

/// A window with stride 1 and without padding, over `axes` axes.
Attrs window(size_t axes) {
  return {{"strides", Ints(axes, 1)}, {"dilations", Ints(axes, 1)}, {"pads", Ints(2 * axes, 0)}};
}

/// The kernel's graph with inputs in the layouts in which they arrive.
class OneDnnHarness {
 public:
  OneDnnHarness(const KernelRun& run, const onednn::PlanOptions& options)
      : run_(run), changes_factors_(options.dtype == DType::Float) {}

  Result<Candidate> build() {
    const Graph& graph = run_.graph;
    ISOMER_TRY(const auto copies, copy_values(builder_, graph, [&](ValueId value) { return input(graph, value); }));
    for (const ValueId output : graph.outputs()) {
      if (!run_.reorder_to) builder_.name(copies[output], std::string(kResult));
      outputs_.push_back(copies[output]);
    }
    std::vector<uint64_t> images;
    for (const ValueId copy : copies) images.push_back(builder_.peek().value_hash(copy));
    return carried(run_.decisions, images, builder_.finish(outputs_));
  }

 private:
  Result<ValueId> input(const Graph& graph, ValueId value) {
    const TensorType& type = graph.type(value);
    if (is_weights(graph, value)) {
      const ValueId weights = builder_.input(type);
      builder_.name(weights, std::string(kWeights));
      return weights;
    }
    if (run_.reorder_to == Layout::Blocked) {
      const ValueId x = named(builder_.input(type));
      ISOMER_TRY(const ValueId reader, convolution(x, (*type.shape)[1].value(), (*type.shape)[1].value()));
      return named(reader);
    }
    const bool taken = std::ranges::any_of(graph.consumers(value), [&](NodeId reader) {
      return reader < run_.intakes.size() && run_.intakes[reader] == Intake::Blocked &&
             graph.type(graph.node(reader).result()).rank() == type.rank();
    });
    if (run_.reorder_to != Layout::Plain && !taken) return named(builder_.input(type));
    if (run_.reorder_to && type.rank() < kMinBlockedRank) return part_of_rows(type);
    Shape extents = *type.shape;
    const int64_t channels = extents[1].value();
    extents[1] = kChannels;
    ISOMER_TRY(const ValueId made, convolution(named(builder_.input({type.dtype, extents})), channels, 1));
    if (run_.reorder_to) return named(made);
    builder_.name(made, std::string(kOperand));
    // A second reader, so that nothing is fused into the kernel that makes the operand.
    ISOMER_TRY(const ValueId other, builder_.add(*find_op(unused_pool()), {}, {made}));
    outputs_.push_back(named(other));
    return made;
  }

  /// Returns whether a value is the weights of a convolution, or a matrix whose layout a product may change.
  bool is_weights(const Graph& graph, ValueId value) const {
    return std::ranges::any_of(graph.consumers(value), [&](NodeId reader) {
      const Node& node = graph.node(reader);
      const onednn::LayoutUse layouts = onednn::kernel_traits(node).layouts;
      const bool changes = layouts == onednn::LayoutUse::Factors && changes_factors_ && graph.type(value).rank() == 2;
      return (layouts == onednn::LayoutUse::Chosen || changes) && graph.operands(node)[1] == value;
    });
  }

  /// Values that are never blocked are copied from a view: the first half of every row.
  Result<ValueId> part_of_rows(const TensorType& type) {
    if (type.rank() == 0) return named(builder_.input(type));
    Shape extents = *type.shape;
    const int64_t length = extents.back().value();
    extents.back() = 2 * length;
    const ValueId rows = named(builder_.input({type.dtype, extents}));
    const Attrs half{{"axes", Ints{static_cast<int64_t>(type.rank()) - 1}},
                     {"starts", Ints{0}},
                     {"ends", Ints{length}},
                     {"steps", Ints{1}}};
    ISOMER_TRY(const ValueId part, builder_.add(*find_op("Slice"), half, {rows}));
    return named(part);
  }

  /// Returns a pool that the kernel does not contain, so that it is not taken for the kernel.
  const char* unused_pool() const {
    const bool used = std::ranges::any_of(run_.graph.nodes(), [](const Node& node) {
      return node.op->domain.empty() && node.op->name == "GlobalMaxPool";
    });
    return used ? "GlobalAveragePool" : "GlobalMaxPool";
  }

  Result<ValueId> convolution(ValueId x, int64_t channels, int64_t groups) {
    const size_t axes = builder_.type(x).rank() - 2;
    std::vector<int64_t> dims(axes + 2, 1);
    dims[0] = channels;
    dims[1] = groups > 1 ? 1 : (*builder_.type(x).shape)[1].value();
    const ValueId weights = builder_.constant(random_tensor(DType::Float, dims, 1));
    return builder_.add(*find_op("Conv"), window(axes).with("group", groups), {x, weights});
  }

  ValueId named(ValueId value) {
    builder_.name(value, fmt::format("{}_{}", kHarness, value));
    return value;
  }

  const KernelRun& run_;
  const bool changes_factors_;  // otherwise, a change of the layout also converts elements
  GraphBuilder builder_;
  std::vector<ValueId> outputs_;
};

/// Returns random elements, which repeat if there are many; integers are 0 or 1, which are valid indices almost
/// everywhere.
Tensor random_operand(const TensorType& type, uint64_t seed) {
  constexpr int64_t kPeriod = 1 << 16;
  if (type.dtype == DType::String) return random_tensor(type.dtype, *concrete(*type.shape), seed);
  Tensor tensor = Tensor::zeros(type.dtype, *concrete(*type.shape));
  const Tensor part = random_tensor(type.dtype, std::vector{std::min(tensor.element_count(), kPeriod)}, seed);
  const auto to = tensor.mutable_bytes();
  for (size_t at = 0; at < to.size(); at += part.bytes().size())
    std::ranges::copy(part.bytes().first(std::min(part.bytes().size(), to.size() - at)), to.subspan(at).begin());
  const auto halve = [](auto elements) {
    for (auto& element : elements) element %= 2;
  };
  if (type.dtype == DType::Int64) halve(tensor.mutable_data<int64_t>());
  if (type.dtype == DType::Int32) halve(tensor.mutable_data<int32_t>());
  return tensor;
}

/// Returns the number of copies of the weights: as many as a model of this distance would have kernels with such
/// weights. A kernel whose weights are the largest part of a large model is not the only one in it.
onednn::Rotation::Options rotation_of(const KernelRun& run) {
  double bytes = 0;
  for (const Node& node : run.graph.nodes())
    if (node.is_constant()) bytes += static_cast<double>(run.graph.constant(node.result())->bytes().size());
  if (bytes == 0) return {};
  const auto copies_in = [&](double distance) {
    const auto copies = static_cast<size_t>(std::max(std::lround(distance / bytes), 1L));
    return distance < kFarthestWeights ? copies : std::max(copies, size_t{2});
  };
  const auto [near, far] = std::minmax(run.weights.distance, run.weights.other_distance);
  const size_t in_group = copies_in(near);
  const size_t groups = (copies_in(far) + in_group / 2) / in_group;
  const auto rounds = static_cast<size_t>(run.weights.in_a_row);
  if (rounds == 1 || groups * in_group * rounds > kMaxRunsOfCycle) return {.copies = copies_in(run.weights.distance)};
  onednn::Rotation::Options options{.copies = in_group};
  options.groups = std::max(groups, size_t{2});
  options.rounds = rounds;
  return options;
}

/// Returns which launches of the plan belong to the kernel.
std::vector<bool> counted(const KernelRun& run, const std::vector<onednn::PlanKernel>& kernels) {
  std::vector<bool> counts;
  for (const onednn::PlanKernel& kernel : kernels) {
    const bool reorder = kernel.name == "reorder";
    // The kernel itself needs reorders of its operands; one of the result serves the caller.
    counts.push_back(kernel.implementation != "memcpy" && !kernel.value.starts_with(kHarness) &&
                     kernel.value != (reorder ? kResult : kOperand));
  }
  if (!run.reorder_to) return counts;
  // The first reorder is of the harness's input, the last one of its output.
  counts.assign(kernels.size(), false);
  const auto is_reorder = [](const onednn::PlanKernel& kernel) { return kernel.name == "reorder"; };
  if (*run.reorder_to == Layout::Blocked) {
    const auto first = std::ranges::find_if(kernels, is_reorder);
    if (first != kernels.end()) counts[static_cast<size_t>(first - kernels.begin())] = true;
  } else if (!kernels.empty() && is_reorder(kernels.back())) {
    counts.back() = true;
  }
  return counts;
}

using Once = std::function<Result<double>()>;

/// Returns the microseconds of runs whose weights are always equally far away: 4 to 8 ms of runs; more if there are
/// fewer than nine, and less if there are many. Longer measurements agree no better, since the speed of a machine
/// changes from one second to the next.
Result<std::vector<double>> settled_samples(const Once& once, size_t copies) {
  constexpr size_t kWarmup = 2, kMinRuns = 9, kMaxRuns = 40, kManyRuns = 400;
  constexpr size_t kMinLongRuns = 4;  // if they take so long that they differ less
  constexpr double kSeconds = 0.008, kLongSeconds = 0.06, kWarmupSeconds = 0.004;
  constexpr double kMinSeconds = 0.004;   // if caches matter: their contents change from one moment to the next
  constexpr double kManySeconds = 0.002;  // of many runs, whose differences average out
  constexpr size_t kRounds = 8;           // until the third level of cache has reached a steady state
  Stopwatch watch;
  // Several rounds if they are short: then a copy was last read as long ago as a model's weights.
  const size_t rounds = copies == 1 ? kWarmup : kRounds * copies;
  for (size_t i = 0; i == 0 || (i < rounds && watch.seconds() < kWarmupSeconds); ++i)
    ISOMER_CHECK(once().map([](double) {}));
  watch = {};
  std::vector<double> samples;
  const auto enough = [&] {
    if (samples.size() < kMinRuns) return samples.size() >= kMinLongRuns && watch.seconds() >= kLongSeconds;
    if (samples.size() >= kManyRuns) return watch.seconds() >= kManySeconds;
    return watch.seconds() >= (copies == 1 ? kMinSeconds : kSeconds) ||
           (samples.size() >= kMaxRuns && (copies == 1 || watch.seconds() >= kMinSeconds));
  };
  while (!enough()) {
    ISOMER_TRY(const double us, once());
    samples.push_back(us);
  }
  return samples;
}

/// Returns the microseconds of whole cycles of a rotation whose groups take turns: of the first round of each turn, or
/// of all others, since the caches take several rounds to reach a steady state.
Result<std::vector<double>> samples_of_turns(const Once& once, const onednn::Rotation& rotation, bool of_first) {
  constexpr size_t kCycles = 4;             // cycles differ
  constexpr double kLongestCycle = 0.25e6;  // us; longer kernels depend less on their weights than on their work
  ISOMER_TRY(const double first, once());
  if (first * static_cast<double>(rotation.cycle()) > kLongestCycle) return settled_samples(once, rotation.copies());
  for (size_t i = 1; i < rotation.cycle(); ++i) ISOMER_CHECK(once().map([](double) {}));
  std::vector<double> samples;
  for (size_t i = 0; i < kCycles * rotation.cycle(); ++i) {
    const bool returns = rotation.next_returns();
    ISOMER_TRY(const double us, once());
    if (returns == of_first) samples.push_back(us);
  }
  return samples;
}

}  // namespace

Result<KernelTime> time_on_plan(const KernelRun& run, const onednn::PlanOptions& options,
                                const std::shared_ptr<onednn::Tuner>& tuner, NoiseFilter& noise_filter,
                                onednn::FarMemory& far) {
  constexpr size_t kArenas = 2;  // an earlier kernel used the place of the result
  ISOMER_TRY(const Candidate candidate, OneDnnHarness(run, options).build());
  const Graph& graph = candidate.graph;
  onednn::PlanOptions planning = options;
  planning.decisions = candidate.decisions;
  std::vector<Tensor> inputs;
  std::vector<TensorType> types;
  for (const ValueId input : graph.inputs()) {
    types.push_back(graph.type(input));
    inputs.push_back(random_operand(types.back(), inputs.size() + 1));
  }
  ISOMER_TRY(const onednn::Plan plan, onednn::Plan::make(graph, types, planning, tuner));
  const std::vector<bool> counts = counted(run, plan.kernels());
  if (std::ranges::none_of(counts, [](bool counts_too) { return counts_too; })) return KernelTime{};
  const auto last = std::find(counts.rbegin(), counts.rend(), true);
  onednn::Rotation::Options rotating = rotation_of(run);
  rotating.arenas = kArenas;
  rotating.kernels = static_cast<size_t>(counts.rend() - last);
  rotating.makers = static_cast<size_t>(std::ranges::find(counts, true) - counts.begin());
  onednn::Rotation rotation(plan, far, rotating);
  const auto once = [&]() -> Result<double> {
    ISOMER_TRY(const auto spans, rotation.run(inputs));
    double sum = 0;
    for (size_t k = 0; k < spans.size(); ++k) sum += counts[k] ? spans[k].duration : 0;
    return sum;
  };
  return noise_filter.time([&]() -> Result<KernelTime> {
    ISOMER_TRY(const auto samples, rotating.groups > 1 ? samples_of_turns(once, rotation, run.weights.is_first())
                                                       : settled_samples(once, rotation.copies()));
    constexpr size_t kFew = 10;
    return KernelTime{.us = trimmed_mean(samples, samples.size() < kFew ? 0.25 : 0.1),
                      .spread = percentile(samples, 0.75) - percentile(samples, 0.25),
                      .runs = static_cast<int>(samples.size())};
  });
}

}  // namespace isomer
