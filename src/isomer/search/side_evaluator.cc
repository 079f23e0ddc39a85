#include "isomer/search/side_evaluator.h"

namespace isomer {

Result<Candidate> SideEvaluator::prepare(const Candidate& /*candidate*/) {
  return fail("nothing is prepared while others search");
}

bool SideEvaluator::admits(const Graph& graph) {
  const auto one = locked(lock_, end_);
  return whole_.admits(graph);
}

RefusedWeights SideEvaluator::refused_in(const Graph& graph) {
  const auto one = locked(lock_, end_);
  return whole_.refused_in(graph);
}

Result<Interval> SideEvaluator::measure(const Candidate& /*current*/, const Candidate& /*candidate*/) {
  return fail("nothing is measured while others search");
}

}  // namespace isomer
