#include "isomer/cost/kernel_cost.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "isomer/base/hash.h"
#include "isomer/cost/critical_path.h"
#include "isomer/cost/live_memory.h"
#include "isomer/ops/again.h"
#include "isomer/plan/recomputation.h"

namespace isomer {
namespace {

bool is_opaque(const Graph& graph, const KernelPlan& plan, size_t kernel) {
  return graph.node(plan.kernel(kernel).back()).is_opaque();
}

/// Visits what runs: the index of each kernel, then each reorder. Returns the first Error.
template <class Visit>
Status for_each_run(const KernelPlan& plan, Visit visit) {
  for (size_t kernel = 0; kernel < plan.size(); ++kernel) ISOMER_CHECK(visit(kernel));
  for (const KernelPlan::Reorder& reorder : plan.reorders) ISOMER_CHECK(visit(reorder));
  return {};
}

}  // namespace

double footprint(const Graph& graph, const SymbolValues& symbols) {
  const ConcreteTypes types(graph, symbols);
  double total = 0;
  for (ValueId value = 0; value < graph.num_values(); ++value) {
    const Node& producer = graph.producer_node(value);
    const auto readers = graph.consumers(value);
    const bool folded = graph.is_constant_derived(value) && !producer.is_constant();
    const bool in_place = !graph.is_constant_derived(value) && readers.size() == 1 &&
                          works_in_place(graph.node(readers[0])) && !graph.is_output(value);
    if (!folded && !in_place) total += types.bytes(value);
  }
  return total;
}

Result<std::unique_ptr<KernelCost>> KernelCost::make(Engine& engine, ProfileDb& db, KernelCostOptions options) {
  if (engine.planner() == nullptr) return fail("{} does not say how it groups nodes into kernels", engine.label());
  ISOMER_TRY(ProfileKey key, db.resolve({engine.name(), engine.version(), engine.device(), engine.threads()}));
  auto cost = std::unique_ptr<KernelCost>(new KernelCost(engine, db, std::move(key), std::move(options)));
  ISOMER_TRY(const auto known, db.load(cost->key_));
  for (const ProfiledKernel& kernel : known) cost->profile_[kernel.signature] = kernel.time;
  if (db.locked()) {
    ISOMER_TRY(cost->failures_, db.load_failures(cost->key_));
  }
  return cost;
}

KernelCost::KernelCost(Engine& engine, ProfileDb& db, ProfileKey key, KernelCostOptions options)
    : engine_(&engine), db_(&db), planner_(engine.planner()), options_(std::move(options)), key_(std::move(key)) {}

Result<Metrics> KernelCost::metrics(const Candidate& candidate, const Boundary& boundary) {
  if (computes_twice(candidate)) return metrics(with_recomputation(candidate).candidate, boundary);
  ISOMER_TRY(KernelPlan plan, planner_->plan(candidate.graph, boundary, candidate.decisions, deadline_));
  Planned planned(candidate.graph, boundary, std::move(plan), options_);
  Metrics total;
  std::vector<double> us;
  ISOMER_CHECK(for_each_run(planned.plan, [&](const auto& what) -> Status {
    ISOMER_TRY(const Metrics* one, find(planned, what));
    us.push_back(one->latency_us);
    total.latency_us += one->latency_us;
    total.flops += one->flops;
    total.bytes += one->bytes;
    total.kernels += one->kernels;
    return {};
  }));
  const bool part = !boundary.inputs.empty() || !boundary.outputs.empty();
  total.critical_path_us = critical_path_us(planned.graph, planned.plan, us);
  total.peak_bytes = live_bytes(planned.graph, planned.plan, planned.types.bytes(), part);
  return total;
}

double KernelCost::known_latency(const Candidate& candidate) {
  if (computes_twice(candidate)) return known_latency(with_recomputation(candidate).candidate);
  const Graph& graph = candidate.graph;
  const auto plan = planner_->plan(graph, {}, candidate.decisions, deadline_);
  if (!plan) return 0;
  const ConcreteTypes types(graph, options_.symbols);
  KernelSigner signer(graph, *plan, types, options_.footprint);
  double us = 0;
  std::ignore = for_each_run(*plan, [&](const auto& what) -> Status {
    if (const auto found = profile_.find(signer.signature(what)); found != profile_.end()) us += found->second.us;
    return {};
  });
  return us;
}

template <class What>
Result<const Metrics*> KernelCost::find(Planned& planned, const What& what) {
  const uint64_t signature = planned.signer.signature(what);
  auto found = known_.find(signature);
  if (found == known_.end()) {
    Metrics metrics{.kernels = 1};
    bool measurable = true;
    if constexpr (std::is_same_v<What, size_t>) {
      const auto nodes = planned.plan.kernel(what);
      for (const NodeId id : nodes) metrics.flops += flops_.of(planned.graph, planned.graph.node(id), planned.types);
      metrics.bytes = bytes_of_kernel(planned.graph, nodes, planned.types);
      // No substitution changes an opaque node, so it costs the same in all versions of a graph.
      measurable = !is_opaque(planned.graph, planned.plan, what);
    } else {
      metrics.bytes = 2 * planned.types.bytes(what.value);
    }
    Result<Metrics> result = metrics;
    if (measurable) {
      if (const auto us = latency(planned, what, signature)) {
        result->latency_us = *us;
      } else {
        result = fail_in(planned.signer.describe(what), us.error());
        if (deadline_.passed()) return tl::unexpected<Error>(result.error());  // a later run may measure it
      }
    }
    found = known_.emplace(signature, std::move(result)).first;
  }
  if (!found->second) return tl::unexpected<Error>(found->second.error());
  return &*found->second;
}

template <class What>
Result<double> KernelCost::latency(Planned& planned, const What& what, uint64_t signature) {
  if (const auto found = profile_.find(signature); found != profile_.end()) return found->second.us;
  if (const auto found = failures_.find(signature); found != failures_.end()) return fail("{}", found->second);
  if (db_->locked()) {
    db_->miss(planned.signer.describe(what));
    return fail("it is not in the profile database");
  }
  if (deadline_.passed()) return fail("no time is left to measure it");
  Batch batch;
  if (const Status added = add(planned, what, signature, batch); !added) {
    ISOMER_CHECK(db_->store_failure(key_, signature, added.error().message));
    return tl::unexpected<Error>(added.error());
  }
  add_unknown(planned, batch);
  constexpr int kMaxExpected = 64;  // most of the following candidates have the kernels of this one
  for (int i = 0; i < kMaxExpected && next_ != nullptr && wants_more(batch); ++i) {
    const Candidate* next = next_();
    if (next == nullptr) break;
    if (computes_twice(*next)) continue;  // its kernels are those of another graph
    auto plan = planner_->plan(next->graph, planned.boundary, next->decisions, deadline_);
    if (!plan) continue;
    Planned expected(next->graph, planned.boundary, std::move(*plan), options_);
    add_unknown(expected, batch);
  }
  return measure(batch);
}

template <class What>
Status KernelCost::add(Planned& planned, const What& what, uint64_t signature, Batch& batch) const {
  ISOMER_TRY(KernelRun run, planned.signer.extract(what));
  for (const Node& node : run.graph.nodes())
    if (node.is_constant())
      batch.weight_bytes += static_cast<double>(run.graph.constant(node.result())->bytes().size());
  batch.runs.push_back(std::move(run));
  batch.unknown.push_back({signature, planned.signer.describe(what)});
  return {};
}

bool KernelCost::wants_more(const Batch& batch) const {
  constexpr double kMaxWeights = 128 << 20;
  return batch.unknown.size() < engine_->kernels_in_turn() && batch.weight_bytes < kMaxWeights;
}

void KernelCost::add_unknown(Planned& planned, Batch& batch) const {
  if (!wants_more(batch)) return;
  std::ignore = for_each_run(planned.plan, [&]<class What>(const What& what) -> Status {
    if constexpr (std::is_same_v<What, size_t>)
      if (is_opaque(planned.graph, planned.plan, what)) return {};
    const uint64_t signature = planned.signer.signature(what);
    const bool taken = std::ranges::find(batch.unknown, signature, &Unknown::signature) != batch.unknown.end();
    // Where a kernel cannot be extracted, that is reported when its cost is needed.
    if (!taken && !known(signature) && wants_more(batch)) std::ignore = add(planned, what, signature, batch);
    return {};
  });
}

Result<double> KernelCost::measure(const Batch& batch) {
  ISOMER_TRY(const double overhead_us, once(kLaunchOverhead, [&] { return engine_->kernel_overhead(); }));
  std::string description = batch.unknown[0].description;
  if (batch.unknown.size() > 1) description += fmt::format(", and {} more in turn", batch.unknown.size() - 1);
  options_.progress(measured_, description);
  TraceScope scope(options_.trace, description, "kernel");
  const auto times = engine_->time_kernels(batch.runs, overhead_us);
  for (size_t k = 0; k < times.size(); ++k) {
    const auto& [signature, what] = batch.unknown[k];
    if (!times[k]) {
      // Recorded, so that a locked run also continues without it. After the deadline, the failure is not the kernel's.
      if (deadline_.passed()) continue;
      failures_[signature] = times[k].error().message;
      ISOMER_CHECK(db_->store_failure(key_, signature, times[k].error().message));
      continue;
    }
    ++measured_;
    profile_[signature] = *times[k];
    ISOMER_CHECK(db_->store(key_, signature, *times[k], what));
  }
  if (!times[0]) return tl::unexpected<Error>(times[0].error());
  scope.note("us", times[0]->us);
  scope.note("runs", static_cast<double>(times[0]->runs));
  scope.note("kernels", static_cast<double>(times.size()));
  return times[0]->us;
}

template <class Measure>
Result<double> KernelCost::once(std::string_view what, const Measure& measure) {
  const uint64_t signature = hash_text(what);
  if (const auto found = profile_.find(signature); found != profile_.end()) return found->second.us;
  ISOMER_TRY(const double us, measure());
  profile_[signature] = {.us = us, .runs = 1};
  ISOMER_CHECK(db_->store(key_, signature, profile_[signature], std::string(what)));
  return us;
}

Result<NeighborCosts> KernelCost::neighbor_costs() {
  std::optional<NeighborTimes> measured;
  const auto measure = [&](size_t i) -> Result<double> {
    if (db_->locked()) db_->miss(kNeighborTimes[i]);
    if (db_->locked()) return fail("the times of neighbors are not in the profile database");
    if (deadline_.passed()) return fail("no time is left to measure the times of neighbors");
    if (!measured) {
      options_.progress(measured_, "neighbors");
      ISOMER_TRY(measured, engine_->neighbor_times());
    }
    return (*measured)[i];
  };
  NeighborTimes times;
  for (size_t i = 0; i < times.size(); ++i) {
    ISOMER_TRY(times[i], once(kNeighborTimes[i], [&] { return measure(i); }));
  }
  return to_costs(times);
}

Result<std::vector<PlannedKernel>> KernelCost::kernels(const Candidate& candidate) {
  if (computes_twice(candidate)) {
    const Recomputed twice = with_recomputation(candidate);
    ISOMER_TRY(std::vector<PlannedKernel> out, kernels(twice.candidate));
    for (PlannedKernel& kernel : out) {
      if (!kernel.reorder)
        std::erase_if(kernel.nodes, [&](NodeId id) { return twice.candidate.graph.node(id).op == &again_op(); });
      for (NodeId& node : kernel.nodes) node = twice.nodes[node];
    }
    return out;
  }
  const Boundary whole;
  ISOMER_TRY(KernelPlan plan, planner_->plan(candidate.graph, whole, candidate.decisions, deadline_));
  Planned planned(candidate.graph, whole, std::move(plan), options_);
  std::vector<PlannedKernel> out;
  ISOMER_CHECK(for_each_run(planned.plan, [&]<class What>(const What& what) -> Status {
    ISOMER_TRY(const Metrics* one, find(planned, what));
    if constexpr (std::is_same_v<What, size_t>) {
      const auto nodes = planned.plan.kernel(what);
      out.push_back({.nodes = {nodes.begin(), nodes.end()},
                     .us = one->latency_us,
                     .weight_bytes = planned.signer.far_bytes(what)});
    } else {
      out.push_back({.nodes = {candidate.graph.producer(what.value)}, .reorder = true, .us = one->latency_us});
    }
    return {};
  }));
  std::ranges::stable_sort(out, {}, [](const PlannedKernel& kernel) { return kernel.nodes.back(); });
  return out;
}

Result<PeakMemory> KernelCost::peak_memory(const Candidate& candidate) {
  const Recomputed run = with_recomputation(candidate);
  const Graph& graph = run.candidate.graph;
  ISOMER_TRY(const KernelPlan plan, planner_->plan(graph, {}, run.candidate.decisions, deadline_));
  const LivePeak peak = live_peak(graph, plan, ConcreteTypes(graph, options_.symbols).bytes());
  const auto nodes = static_cast<NodeId>(graph.nodes().size());
  PeakMemory out{peak.bytes,
                 peak.last < nodes ? run.positions[peak.last] : static_cast<NodeId>(candidate.graph.nodes().size())};
  std::vector<std::vector<ValueId>> values(graph.num_values());  // by home
  for (NodeId id = 0; id < nodes; ++id) {
    if (run.positions[id] != run.nodes[id]) continue;  // a second computation
    const Node& original = candidate.graph.node(run.nodes[id]);
    for (uint32_t r = 0; r < original.num_results; ++r)
      if (const ValueId home = peak.home[graph.node(id).result(r)]; home != kNoValue && peak.waiting[home] > 0)
        values[home].push_back(original.result(r));
  }
  for (ValueId home = 0; home < graph.num_values(); ++home)
    if (peak.waiting[home] > 0) out.held.push_back({peak.waiting[home], std::move(values[home])});
  return out;
}

Result<std::vector<KernelShare>> KernelCost::account(const Candidate& candidate) {
  if (computes_twice(candidate)) return account(with_recomputation(candidate).candidate);
  const Graph& graph = candidate.graph;
  ISOMER_CHECK(metrics(candidate).map([](const Metrics&) {}));  // measures kernels that are unknown so far
  const ConcreteTypes types(graph, options_.symbols);
  ISOMER_TRY(const KernelPlan plan, planner_->plan(graph, {}, candidate.decisions, deadline_));
  KernelSigner signer(graph, plan, types, options_.footprint);
  std::map<uint64_t, KernelShare> shares;
  ISOMER_CHECK(for_each_run(plan, [&](const auto& what) -> Status {
    const uint64_t signature = signer.signature(what);
    KernelShare& share = shares[signature];
    if (share.count++ == 0) share.kernel = signer.describe(what);
    const Metrics& one = *known_.at(signature);
    share.us += one.latency_us;
    share.flops += one.flops;
    share.bytes += one.bytes;
    return {};
  }));
  std::vector<KernelShare> sorted;
  sorted.reserve(shares.size());
  for (auto& [signature, share] : shares) sorted.push_back(std::move(share));
  std::ranges::stable_sort(sorted, [](const KernelShare& a, const KernelShare& b) { return a.us > b.us; });
  return sorted;
}

}  // namespace isomer
