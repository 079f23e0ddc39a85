#pragma once
// Decides which values are computed twice, so that a candidate needs less memory (rematerialization).

#include <functional>

#include "isomer/cost/cost_model.h"

namespace isomer {

/// Goes step by step from a candidate to others that need less memory and more time. Each step frees one of the values
/// that memory holds at the moment when the most is in use, without using them: it computes the value again later,
/// together with what that needs and is no longer there. Of all values, it prefers the one with the most bytes for the
/// time that its second computation takes, and with few bytes in its segment: values that are computed twice and are
/// connected may all be there at the same time. So segments grow evenly, as those between checkpoints at fixed
/// distances do (Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost", section 4), but cheap values are
/// freed first.
class Recompute {
 public:
  /// Keeps a reference. An Error as for CostModel::metrics.
  static Result<Recompute> make(Candidate first, CostModel& costs);

  /// Returns false if there is nothing more to free. An Error as for CostModel::metrics.
  Result<bool> step();
  const Candidate& candidate() const { return candidate_; }
  /// Returns its costs.
  const Metrics& metrics() const { return metrics_; }
  /// Returns the nodes whose results a candidate for the same graph decides about, first those that take the most time
  /// for their bytes.
  std::vector<NodeId> by_worth(const Candidate& candidate) const;

 private:
  /// Values that are computed again together.
  struct Move {
    std::vector<ValueId> values = {};
    double us = 0;
  };
  Recompute(Candidate first, CostModel& costs);
  /// What a step knows about the candidate.
  struct Moment {
    PeakMemory peak;
    std::vector<bool> held = {};      // by value
    std::vector<NodeId> second = {};  // see second_computations
  };
  std::optional<Move> move(const PeakMemory::Held& freed, const Moment& moment) const;
  bool is_used_after(ValueId value, const Moment& moment) const;
  double segment_bytes(const Move& move, const Moment& moment) const;

  CostModel* costs_;
  Candidate candidate_;
  Metrics metrics_;
  std::vector<double> us_;     // by node: the time of the kernel that ends with it
  std::vector<double> bytes_;  // by value
  std::vector<bool> refused_;  // by value: computing it again did not help
  bool moved_ = false;         // since the first of them was refused
};

using RecomputeObjective = std::function<double(const Candidate&, const Metrics&)>;

/// Returns the candidate with the least objective of these: the first one; those with checkpoints (with_checkpoints);
/// and those to which steps lead from the first one, and from the best one with checkpoints. Steps end when there is
/// nothing more to free, at the deadline, at a kernel that cannot be measured, and when the objective did not improve
/// for 64 steps, or 8 if no limit is exceeded. If the best candidate is within the limits, second computations are
/// taken back where that is better: all of them, those of one half of the nodes, and so on, as long as that gains a
/// thousandth of the latency. Decisions of the first candidate are kept. An Error if its cost is not known.
Result<Candidate> recompute(const Candidate& first, CostModel& costs, const Deadline& end,
                            const RecomputeObjective& objective);

}  // namespace isomer
