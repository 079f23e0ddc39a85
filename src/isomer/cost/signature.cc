#include "isomer/cost/signature.h"

#include <algorithm>

#include "isomer/base/hash.h"
#include "isomer/ir/builder.h"

namespace isomer {
namespace {

/// Constants of at most this many elements (scales, exponents, indices) affect what a kernel does.
constexpr int64_t kSteering = 8;

/// Increment this when kernels are grouped or timed differently, so that older measurements are not used.
constexpr uint64_t kSignatureVersion = 2;

bool steers(const Tensor& constant) { return constant.element_count() <= kSteering || !is_real(constant.dtype()); }

/// Returns elements between 0.5 and 1.5 that differ for every seed, so that no two weights are shared.
Tensor made_up(DType dtype, const std::vector<int64_t>& dims, uint64_t seed) {
  Tensor tensor = Tensor::zeros(dtype, dims);
  if (dtype != DType::Float) return tensor;
  const auto elements = tensor.mutable_data<float>();
  constexpr size_t kPeriod = 4096;
  for (size_t i = 0; i < std::min(elements.size(), kPeriod); ++i)
    elements[i] = 0.5F + static_cast<float>(hash_mix(seed, i) >> 40) * 0x1p-24F;
  for (size_t i = kPeriod; i < elements.size(); ++i) elements[i] = elements[i - kPeriod];
  return tensor;
}

}  // namespace

KernelSigner::KernelSigner(const Graph& graph, const KernelPlan& plan, const ConcreteTypes& types, double footprint)
    : graph_(graph), plan_(plan), types_(types), reuse_(graph, plan, types, footprint) {}

bool KernelSigner::inside(size_t kernel, ValueId value) const {
  const auto nodes = plan_.kernel(kernel);
  const NodeId producer = graph_.producer(value);
  return std::find(nodes.begin(), nodes.end(), producer) != nodes.end();
}

uint64_t KernelSigner::signature(size_t kernel) {
  seen_.clear();
  uint64_t hash = kSignatureVersion;
  for (const NodeId id : plan_.kernel(kernel)) {
    const Node& node = graph_.node(id);
    hash = hash_mix(hash_mix(hash_mix(hash, node.op->hash()), node.attrs.hash()), node.num_results);
    hash = hash_mix(hash, static_cast<uint64_t>(plan_.intakes[id]));
    if (const uint64_t decided = decided_hash(node)) hash = hash_mix(hash, decided);
    for (const ValueId operand : graph_.operands(node)) {
      if (operand == kNoValue) {
        hash = hash_mix(hash, 1);
        continue;
      }
      const auto known = std::find(seen_.begin(), seen_.end(), operand);
      hash = hash_mix(hash, static_cast<uint64_t>(known - seen_.begin()));
      if (known != seen_.end()) continue;
      seen_.push_back(operand);
      hash = hash_mix(hash, types_.hash(operand));
      if (!graph_.is_constant_derived(operand)) continue;
      const Node& maker = graph_.producer_node(operand);
      if (is_generated(graph_, operand)) hash = hash_mix(hash_mix(hash, maker.op->hash()), maker.attrs.hash());
      const Tensor* constant = graph_.constant(operand);
      hash = hash_mix(hash, constant != nullptr && steers(*constant) ? constant->hash() : 2);
    }
    for (uint32_t i = 0; i < node.num_results; ++i) seen_.push_back(node.result(i));
  }
  const WeightReads reads = reuse_.of(kernel);
  hash = hash_mix(hash, static_cast<uint64_t>(reads.distance));
  if (reads.in_a_row == 1) return hash;
  return hash_mix(hash_mix(hash, static_cast<uint64_t>(reads.in_a_row)), static_cast<uint64_t>(reads.other_distance));
}

uint64_t KernelSigner::signature(const KernelPlan::Reorder& reorder) const {
  return hash_mix(hash_mix(hash_text("reorder", kSignatureVersion), static_cast<uint64_t>(reorder.to)),
                  types_.hash(reorder.value));
}

/// Returns 0 if nothing is decided about the results of a node.
uint64_t KernelSigner::decided_hash(const Node& node) const {
  uint64_t hash = 0;
  if (plan_.decisions.empty()) return hash;
  for (uint32_t i = 0; i < node.num_results; ++i) {
    const auto layout = plan_.decisions.layout(node.result(i));
    const auto algorithm = plan_.decisions.algorithm(node.result(i));
    if (layout) hash = hash_mix(hash_mix(hash, i + 1), 1 + static_cast<uint64_t>(*layout));
    if (algorithm) hash = hash_mix(hash_mix(hash, i + 1), 16 + static_cast<uint64_t>(*algorithm));
  }
  return hash;
}

TensorType KernelSigner::type(ValueId value) const {
  const auto& extents = types_.extents()[value];
  if (!extents) return {};
  return {graph_.type(value).dtype, Shape(extents->begin(), extents->end())};
}

Result<KernelRun> KernelSigner::extract(size_t kernel) const {
  GraphBuilder builder;
  std::unordered_map<ValueId, ValueId> renamed;
  const auto outside = [&](ValueId value) -> Result<ValueId> {
    const TensorType concrete = type(value);
    if (!concrete.known()) return fail("the extents of an operand are not known");
    if (!graph_.is_constant_derived(value)) return builder.input(concrete);
    const Node& maker = graph_.producer_node(value);
    if (is_generated(graph_, value)) return builder.add(*maker.op, maker.attrs, {});
    const Tensor* constant = graph_.constant(value);
    if (constant != nullptr && steers(*constant)) return builder.constant(*constant);
    return builder.constant(made_up(concrete.dtype, *types_.extents()[value], renamed.size() + 1));
  };
  NodeId last = 0;
  std::vector<std::pair<NodeId, NodeId>> copies;
  for (const NodeId id : plan_.kernel(kernel)) {
    const Node& node = graph_.node(id);
    if (node.is_opaque()) return fail("{} cannot be timed by itself", node.attrs.text("@op_type"));
    std::vector<ValueId> operands;
    for (const ValueId operand : graph_.operands(node)) {
      if (operand != kNoValue && !renamed.contains(operand)) {
        ISOMER_TRY(renamed[operand], outside(operand));
      }
      operands.push_back(operand == kNoValue ? kNoValue : renamed[operand]);
    }
    ISOMER_TRY(last, builder.node(*node.op, node.attrs, operands, node.num_results));
    copies.emplace_back(id, last);
    for (uint32_t i = 0; i < node.num_results; ++i) renamed[node.result(i)] = builder.at(last).result(i);
  }
  std::vector<ValueId> outputs;
  for (uint32_t i = 0; i < builder.at(last).num_results; ++i) outputs.push_back(builder.at(last).result(i));
  // Nothing is removed when the graph is finished, so ids stay the same: all constants and nodes are in use.
  KernelRun run{.graph = builder.finish(outputs), .weights = reuse_.of(kernel)};
  run.intakes.assign(run.graph.nodes().size(), Intake::Own);
  for (const auto& [from, to] : copies) run.intakes[to] = plan_.intakes[from];
  const auto copy_of = [&](ValueId value) {
    return inside(kernel, value) ? std::optional(renamed.at(value)) : std::nullopt;
  };
  add_decisions(plan_.decisions, copy_of, run.decisions);
  return run;
}

Result<KernelRun> KernelSigner::extract(const KernelPlan::Reorder& reorder) const {
  GraphBuilder builder;
  const ValueId x = builder.input(type(reorder.value));
  return KernelRun{.graph = builder.finish(std::vector{x}), .reorder_to = reorder.to};
}

std::string KernelSigner::describe(size_t kernel) const {
  std::string names, operands;
  for (const NodeId id : plan_.kernel(kernel)) {
    const Node& node = graph_.node(id);
    names += (names.empty() ? "" : "+") + (node.is_opaque() ? node.attrs.text("@op_type") : node.op->name);
    for (const ValueId operand : graph_.operands(node))
      if (operand != kNoValue && !inside(kernel, operand)) operands += " " + type(operand).str();
    if (plan_.intakes[id] == Intake::Blocked) operands += " blocked";
    for (uint32_t i = 0; i < node.num_results; ++i) {
      if (const auto algorithm = plan_.decisions.algorithm(node.result(i)))
        operands += fmt::format(" {}", algorithm_name(*algorithm));
      if (const auto layout = plan_.decisions.layout(node.result(i)))
        operands += *layout == Layout::Blocked ? " to blocked" : " to plain";
    }
  }
  return names + operands;
}

std::string KernelSigner::describe(const KernelPlan::Reorder& reorder) const {
  return (reorder.to == Layout::Plain ? "reorder to plain " : "reorder to blocked ") + type(reorder.value).str();
}

}  // namespace isomer
