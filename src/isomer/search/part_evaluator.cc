#include "isomer/search/part_evaluator.h"

namespace isomer {

Result<Candidate> PartEvaluator::prepare(const Candidate& /*candidate*/) {
  return fail("nothing is prepared while others search");
}

bool PartEvaluator::admits(const Graph& graph) {
  const auto one = locked(lock_, end_);
  return whole_.admits(graph);
}

RefusedWeights PartEvaluator::refused_in(const Graph& graph) {
  const auto one = locked(lock_, end_);
  return whole_.refused_in(graph);
}

Result<Interval> PartEvaluator::measure(const Candidate& /*current*/, const Candidate& /*candidate*/) {
  return fail("nothing is measured while others search");
}

}  // namespace isomer
