#pragma once
// The search of a run: graphs that rules make of the model and that the model's opset can express.

#include <map>

#include "isomer/onnx/model.h"
#include "isomer/optimize/judges.h"
#include "isomer/optimize/rule_set.h"

namespace isomer {

class RuleSearch {
 public:
  /// Keeps references.
  RuleSearch(const OptimizeOptions& options, const Model& model, const SymbolValues& symbols, const Judges& judges)
      : options_(options), model_(model), symbols_(symbols), judges_(judges) {}

  /// The best graph that these rules lead to before the deadline.
  Result<SearchResult> run(const RuleSet& rules, const Deadline& deadline);

 private:
  /// Folded, and expressible at the model's opset.
  Result<Graph> prepare(const Graph& graph) const;
  /// Whether the operators that run can be expressed at the model's opset; what was asked once is remembered.
  bool admits(const Graph& graph);

  const OptimizeOptions& options_;
  const Model& model_;
  const SymbolValues& symbols_;
  const Judges& judges_;
  std::map<uint64_t, bool> admitted_;  // by the hash of operator, attributes and number of operands
};

}  // namespace isomer
