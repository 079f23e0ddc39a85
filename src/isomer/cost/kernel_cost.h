#pragma once
// A graph's cost as the sum of its kernels', each measured once on the engine.

#include <functional>
#include <memory>

#include "isomer/base/trace.h"
#include "isomer/cost/cost_model.h"
#include "isomer/cost/node_work.h"
#include "isomer/cost/profile_db.h"
#include "isomer/cost/signature.h"
#include "isomer/engine/engine.h"

namespace isomer {

/// Bytes that pass through the caches in one run of a graph: its weights and every activation that is stored.
double footprint(const Graph& graph, const SymbolValues& symbols);

struct KernelCostOptions {
  SymbolValues symbols = {};
  /// footprint() of the model that the graphs are versions or parts of: how far away its weights are from one run to
  /// the next. Kernels of models of very different sizes take differently long.
  double footprint = 0;
  /// Called before each measurement with the number of kernels measured so far and what comes next.
  std::function<void(size_t, const std::string&)> progress = [](size_t, const std::string&) {};
  Trace* trace = nullptr;  ///< gets every measurement; null: nobody
};

/// One line of an account.
struct KernelShare {
  std::string kernel;
  int count = 0;
  double us = 0;  ///< of all of them
};

class KernelCost : public CostModel {
 public:
  /// Keeps references to both. An Error where the engine does not describe its kernels.
  static Result<std::unique_ptr<KernelCost>> make(Engine& engine, ProfileDb& db, KernelCostOptions options);

  Result<Metrics> metrics(const Graph& graph, const Boundary& boundary = {}) override;
  Result<std::vector<PlannedKernel>> kernels(const Graph& graph) override;
  std::vector<Layout> layouts(const Graph& graph) const override { return planner_->plan(graph).layouts; }
  std::vector<double> value_bytes(const Graph& graph) const override {
    return bytes_of_values(graph, options_.symbols);
  }
  void measure_until(const Deadline& deadline) override { deadline_ = deadline; }
  /// What makes up the latency of a graph, the largest share first.
  Result<std::vector<KernelShare>> account(const Graph& graph);
  /// What the measurements hold for: the engine as it is, unless the database is locked (ProfileDb::resolve).
  const ProfileKey& key() const { return key_; }
  /// Kernels measured so far, rather than found in the database.
  size_t measured() const { return measured_; }

 private:
  KernelCost(Engine& engine, ProfileDb& db, ProfileKey key, KernelCostOptions options);

  /// The cost of a kernel or reorder, measured when it is asked for first.
  template <class What>
  Result<const Metrics*> find(KernelSigner& signer, const What& what, const ConcreteTypes& types, const Graph& graph,
                              const KernelPlan& plan);
  template <class What>
  Result<double> latency(const KernelSigner& signer, const What& what, uint64_t signature);
  Result<double> overhead();

  Engine* engine_;
  ProfileDb* db_;
  const KernelPlanner* planner_;
  KernelCostOptions options_;
  ProfileKey key_;
  std::unordered_map<uint64_t, KernelTime> profile_;     // what the database knew, and what was measured since
  std::unordered_map<uint64_t, Result<Metrics>> known_;  // by signature
  NodeWorkCache works_;
  size_t measured_ = 0;
  Deadline deadline_ = Deadline::never();
};

}  // namespace isomer
