#pragma once
// Decides whether a graph that a rewrite made may be kept: its weights may be computed, and the model's opset can
// express it.

#include <map>
#include <unordered_map>

#include "isomer/base/deadline.h"
#include "isomer/eval/weight_check.h"
#include "isomer/onnx/model.h"
#include "isomer/search/report.h"

namespace isomer {

class Preparation {
 public:
  /// Keeps a reference. Large weights are computed on so many threads.
  explicit Preparation(const Model& model, int threads = 1);

  /// Limits folding of constants to `deadline` plus a small extension, so that the chosen graph is still folded after
  /// the search has used up its time. After an interrupt, each check of weights and each fold has half a second.
  void fold_until(const Deadline& deadline);

  /// Returns the candidate with its constants folded as far as time allows, and as far as they grow by at most the
  /// bytes of the model's constants (or a default, if that is more). An Error if a weight must not be computed or the
  /// model's opset cannot express the graph.
  Result<Candidate> prepare(const Candidate& candidate);
  /// Returns whether the model's opset can express the operators that run. Answers are cached.
  bool admits(const Graph& graph);
  /// Returns the weights of the graph that must not be computed.
  RefusedWeights refused_in(const Graph& graph);
  /// Returns an Error with the reason of one of these weights, if there are any. From now on, `refused` has them.
  Status refuse(const RefusedWeights& weights) { return add_refused(refused_, weights); }
  const RefusedWeights& refused() const { return refused_; }

  /// Returns the elements of a folded constant, by the hash of the value that it replaced. An empty tensor if they were
  /// not kept and no graph has them any more.
  Tensor folded(uint64_t value_hash) const;

  /// Adds the folds to the report, and the reasons for refused weights that did not reject a candidate.
  void report(SearchReport& report) const;

 private:
  Deadline end() const;

  const Model& model_;
  const int64_t max_growth_;  // bytes
  WeightCheck check_;
  RefusedWeights refused_;
  std::map<uint64_t, Candidate> prepared_;  // what the model's graph was folded to, by the hash of the candidate before
  std::map<std::pair<uint64_t, uint64_t>, Move> folds_;  // by the hashes of the graphs before and after
  std::unordered_map<uint64_t, WeakTensor> folded_;      // by the hash of the value that the constant replaced
  Deadline end_ = Deadline::after(0);
  std::map<uint64_t, bool> admitted_;  // by the hash of operator, attributes and number of operands
};

}  // namespace isomer
