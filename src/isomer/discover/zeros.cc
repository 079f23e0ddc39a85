#include "isomer/discover/zeros.h"

#include <algorithm>
#include <cmath>

#include "isomer/base/rng.h"
#include "isomer/check/instances.h"
#include "isomer/eval/executor.h"
#include "isomer/rules/match.h"
#include "isomer/rules/rewrite.h"
#include "isomer/rules/walk.h"

namespace isomer {
namespace {

constexpr size_t kInstances = 12;
constexpr size_t kZeroSteps = 5000;

bool is_partial(const Term& term) {
  return any_term(term, [](const Term& each) { return each.op != nullptr && each.op->has(Trait::Partial); });
}

/// Returns tensors with random elements 0, 1 and 2.
std::vector<Tensor> small_inputs(const Graph& graph, Rng& rng) {
  std::vector<Tensor> out;
  for (const ValueId input : graph.inputs()) {
    Tensor tensor = Tensor::zeros(DType::Double, concrete(*graph.type(input).shape).value_or(Ints{}));
    for (double& x : tensor.mutable_data<double>()) x = static_cast<double>(rng.below(3));
    out.push_back(std::move(tensor));
  }
  return out;
}

bool same(const Tensor& x, const Tensor& y) {
  const auto close = [](double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b || std::abs(a - b) <= 1e-9 * (1 + std::abs(a));
  };
  return std::ranges::equal(x.data<double>(), y.data<double>(), close);
}

/// Returns whether both graphs compute the same on some inputs with zeros.
bool agree(const Graph& before, const Graph& after) {
  Rng rng(23);
  for (int draw = 0; draw < 4; ++draw) {
    const std::vector<Tensor> inputs = small_inputs(before, rng);
    const auto expected = run_reference(before, inputs);
    const auto got = run_reference(after, inputs);
    if (!expected || !got) continue;
    for (size_t i = 0; i < expected->size(); ++i)
      if (!same((*expected)[i], (*got)[i])) return false;
  }
  return true;
}

}  // namespace

bool holds_at_zeros(const Rule& rule) {
  if (std::ranges::none_of(rule.sources, is_partial)) return true;
  for (size_t rank = 0; rank <= 3; ++rank) {
    size_t tried = 0;
    bool holds = true;
    for_each_instance(rule, {.rank = rank, .extents = {2, 3}, .sample = rank + 1}, kZeroSteps,
                      [&](const Instance& instance) {
                        const auto graph = instance.build(1);
                        if (!graph) return true;
                        const auto matches = find_matches(*graph, OpIndex(*graph), rule, 1);
                        if (matches.empty()) return true;
                        const auto after = apply_match(*graph, matches[0]);
                        holds = !after || agree(*graph, *after);
                        return holds && ++tried < kInstances;
                      });
    if (!holds) return false;
  }
  return true;
}

}  // namespace isomer
