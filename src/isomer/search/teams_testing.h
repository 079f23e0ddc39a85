#pragma once
// Costs for tests of teams.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "isomer/cost/cost_model.h"

namespace isomer {

/// Costs by operator; nothing is fused.
class CostOfOperators : public CostModel {
 public:
  explicit CostOfOperators(std::map<std::string, double> us) : us_(std::move(us)) {}
  Result<Metrics> metrics(const Candidate&, const Boundary&) override { return fail("not needed"); }
  Result<std::vector<PlannedKernel>> kernels(const Candidate& candidate) override {
    EXPECT_TRUE(candidate.decisions.computations.empty()) << "second computations come after values that they make";
    std::vector<PlannedKernel> out;
    for (NodeId id = 0; id < candidate.graph.nodes().size(); ++id) {
      const Node& node = candidate.graph.node(id);
      if (!candidate.graph.runs(node)) continue;
      if (free.contains(node.op->name)) continue;
      const auto us = us_.find(node.op->name);
      if (us == us_.end()) return fail("{} cannot be measured", node.op->name);
      out.push_back({.nodes = {id}, .us = us->second * rows(candidate.graph, node), .weight_bytes = weight_bytes});
    }
    return out;
  }
  Result<NeighborCosts> neighbor_costs() override { return neighbors; }
  std::vector<double> value_bytes(const Graph& graph) const override {
    return std::vector<double>(graph.num_values(), 1000);
  }

  std::set<std::string> free = {};  // operators without a kernel
  bool by_rows = false;             // whether times are those of one row
  double weight_bytes = 0;          // of each kernel
  NeighborCosts neighbors = {};

 private:
  double rows(const Graph& graph, const Node& node) const {
    return by_rows ? static_cast<double>((*graph.type(node.result()).shape)[0].value()) : 1;
  }

  const std::map<std::string, double> us_;
};

}  // namespace isomer
