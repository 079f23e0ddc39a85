#include "isomer/verify/proof/axiom_cases.h"

namespace isomer {

AxiomCases::AxiomCases(const Rule& pattern, const Instance& instance) {
  size_t num_results = 0;
  scope_.explore([&] {
    const auto results = Instantiation(scope_, pattern, instance, {}).source();
    num_results = results.size();
    for (size_t r = 0; r < results.size(); ++r) cases_.push_back({scope_.known(), r, results[r].shape, std::nullopt});
  });
  for (size_t r = 0; r < num_results; ++r) {
    scope_.explore([&] {
      const auto results = Instantiation(scope_, pattern, instance, {}).source();
      std::vector<Dim> index;
      for (size_t axis = 0; axis < results[r].rank(); ++axis) {
        index.push_back(Dim::symbol(index_symbol(r, axis)));
        scope_.assume(within(0, index.back(), results[r].shape[axis]));
      }
      Element element = results[r].at(index);
      cases_.push_back({scope_.known(), r, results[r].shape, std::move(element)});
    });
  }
}

}  // namespace isomer
