#pragma once
// The search of a run: graphs that rules make of the model and that the model's opset can express.

#include <map>

#include "isomer/onnx/model.h"
#include "isomer/optimize/judges.h"
#include "isomer/optimize/rule_set.h"
#include "isomer/runtime/reference/weight_check.h"

namespace isomer {

class RuleSearch {
 public:
  /// Keeps references.
  RuleSearch(const OptimizeOptions& options, const Model& model, const SymbolValues& symbols, const Judges& judges)
      : options_(options), model_(model), symbols_(symbols), judges_(judges), check_(model.graph) {}

  /// The best graph that these rules lead to before the deadline.
  Result<SearchResult> run(const RuleSet& rules, const Deadline& deadline);

 private:
  /// Folded as far as there is time, and expressible at the model's opset.
  Result<Graph> prepare(const Graph& graph);
  /// An Error where a weight of the graph must not be made; refused_ then has it.
  Status check_weights(const Graph& graph);
  /// Adds why weights were refused, where no candidate was rejected for it.
  void report_refused(SearchReport& report) const;
  /// Whether the operators that run can be expressed at the model's opset; what was asked once is remembered.
  bool admits(const Graph& graph);

  const OptimizeOptions& options_;
  const Model& model_;
  const SymbolValues& symbols_;
  const Judges& judges_;
  WeightCheck check_;
  RefusedWeights refused_;
  std::map<uint64_t, Graph> prepared_;  // the model's graph and what it was folded to, by the hash of the graph before
  std::map<std::pair<uint64_t, uint64_t>, Move> folds_;  // by the hashes of the graphs before and after
  Deadline end_ = Deadline::after(0);
  std::map<uint64_t, bool> admitted_;  // by the hash of operator, attributes and number of operands
};

}  // namespace isomer
