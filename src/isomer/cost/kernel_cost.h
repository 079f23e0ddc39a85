#pragma once
// The cost of a graph as the sum of its kernels' costs, each measured once on the engine.

#include <functional>
#include <memory>

#include "isomer/base/trace.h"
#include "isomer/cost/cost_model.h"
#include "isomer/cost/node_work.h"
#include "isomer/cost/profile_db.h"
#include "isomer/cost/signature.h"
#include "isomer/engine/engine.h"

namespace isomer {

/// Returns the bytes that pass through the caches in one run of a graph: its weights and every activation that is
/// stored.
double footprint(const Graph& graph, const SymbolValues& symbols);

struct KernelCostOptions {
  SymbolValues symbols = {};
  /// footprint() of the model that the graphs are versions or parts of. It determines how far weights are evicted
  /// between two runs, so equal kernels of models of very different sizes have different latencies.
  double footprint = 0;
  /// Called before each measurement, which may be of several kernels in turn, with the number of kernels measured so
  /// far and a description of the next one.
  std::function<void(size_t, const std::string&)> progress = [](size_t, const std::string&) {};
  Trace* trace = nullptr;  ///< records every measurement; nullptr: disabled
};

/// One line of the breakdown of a graph's latency.
struct KernelShare {
  std::string kernel;
  int count = 0;
  // Of all `count` together:
  double us = 0;
  double flops = 0;
  double bytes = 0;  ///< read and written
};

class KernelCost : public CostModel {
 public:
  /// Keeps references to both. An Error if the engine does not describe its kernels.
  static Result<std::unique_ptr<KernelCost>> make(Engine& engine, ProfileDb& db, KernelCostOptions options);

  Result<Metrics> metrics(const Candidate& candidate, const Boundary& boundary = {}) override;
  Result<std::vector<PlannedKernel>> kernels(const Candidate& candidate) override;
  Result<std::vector<Layout>> layouts(const Candidate& candidate) const override {
    return planner_->plan(candidate.graph, {}, candidate.decisions, deadline_).map([](KernelPlan plan) {
      return std::move(plan.layouts);
    });
  }
  bool obeys_layouts() const override { return planner_->obeys_layouts(); }
  bool recomputes() const override { return planner_->recomputes(); }
  Result<PeakMemory> peak_memory(const Candidate& candidate) override;
  std::vector<double> value_bytes(const Graph& graph) const override {
    return bytes_of_values(graph, options_.symbols);
  }
  std::vector<int64_t> channel_blocks() const override { return engine_->channel_blocks(); }
  void expect(NextCandidates next) override { next_ = std::move(next); }
  void measure_until(const Deadline& deadline) override { deadline_ = deadline; }
  double known_latency(const Candidate& candidate) override;
  Result<NeighborCosts> neighbor_costs() override;
  /// Returns the kernels that make up the latency of a candidate, largest share first.
  Result<std::vector<KernelShare>> account(const Candidate& candidate);
  /// Returns what the measurements are valid for: this engine on this machine, unless the database is locked
  /// (ProfileDb::resolve).
  const ProfileKey& key() const { return key_; }
  /// Number of kernels that were measured so far, not counting those found in the database.
  size_t measured() const { return measured_; }

 private:
  KernelCost(Engine& engine, ProfileDb& db, ProfileKey key, KernelCostOptions options);

  /// A kernel that is to be measured.
  struct Unknown {
    uint64_t signature;
    std::string description;
  };

  /// A candidate with what it takes to cost its kernels. Keeps references.
  struct Planned {
    Planned(const Graph& of, const Boundary& around, KernelPlan kernels, const KernelCostOptions& options)
        : graph(of),
          boundary(around),
          plan(std::move(kernels)),
          types(graph, options.symbols),
          signer(graph, plan, types, options.footprint) {}
    Planned(const Planned&) = delete;
    Planned& operator=(const Planned&) = delete;

    const Graph& graph;
    const Boundary& boundary;
    const KernelPlan plan;
    const ConcreteTypes types;
    KernelSigner signer;
  };
  /// Kernels that are measured in turn.
  struct Batch {
    std::vector<Unknown> unknown;
    std::vector<KernelRun> runs;
    double weight_bytes = 0;
  };

  bool computes_twice(const Candidate& candidate) const {
    return !candidate.decisions.computations.empty() && recomputes();
  }
  /// Returns the cost of a kernel or reorder, which is measured on first use.
  template <class What>
  Result<const Metrics*> find(Planned& planned, const What& what);
  template <class What>
  Result<double> latency(Planned& planned, const What& what, uint64_t signature);
  bool known(uint64_t signature) const {
    return profile_.contains(signature) || failures_.contains(signature) || known_.contains(signature);
  }
  template <class What>
  Status add(Planned& planned, const What& what, uint64_t signature, Batch& batch) const;
  /// Adds kernels that are unknown, up to the number that the engine measures in turn.
  void add_unknown(Planned& planned, Batch& batch) const;
  /// Returns whether more kernels would be measured in turn.
  bool wants_more(const Batch& batch) const;
  /// Measures kernels, and stores their times or why they have none. Returns the time of the first.
  Result<double> measure(const Batch& batch);
  /// Returns what `measure` does; it is stored like a kernel.
  template <class Measure>
  Result<double> once(std::string_view what, const Measure& measure);

  Engine* engine_;
  ProfileDb* db_;
  const KernelPlanner* planner_;
  KernelCostOptions options_;
  ProfileKey key_;
  std::unordered_map<uint64_t, KernelTime> profile_;  // entries of the database, and new measurements
  // kernels that could not be measured, here or according to a locked database, and why
  std::map<uint64_t, std::string> failures_;
  std::unordered_map<uint64_t, Result<Metrics>> known_;  // by signature
  FlopsCache flops_;
  size_t measured_ = 0;
  NextCandidates next_ = nullptr;
  Deadline deadline_ = Deadline::never();
};

}  // namespace isomer
