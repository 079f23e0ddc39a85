#pragma once
// For tests: gradients compared with finite differences in double precision and, where the graph computes polynomials,
// with exact derivatives in the prime field.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "isomer/eval/executor.h"
#include "isomer/eval/random.h"
#include "isomer/grad/gradients.h"
#include "isomer/ir/field.h"
#include "isomer/ops/registry.h"

namespace isomer::testing {

/// A graph of real inputs (in double precision) with their values, and its loss.
struct GradientCase {
  Graph graph;
  ValueId loss;
  std::vector<Tensor> inputs;

  /// The inputs of real numbers.
  std::vector<size_t> reals() const {
    std::vector<size_t> out;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].dtype() == DType::Double) out.push_back(i);
    return out;
  }
};

/// A case whose loss is the sum of all real results of a node, or of these, each element times a random number.
inline Result<GradientCase> operator_case(const std::string& name, const Attrs& attrs, std::vector<Tensor> inputs,
                                          size_t num_results = 0, const std::string& domain = "",
                                          const std::vector<uint32_t>& used = {}) {
  GraphBuilder builder;
  std::vector<ValueId> operands;
  for (const Tensor& input : inputs) operands.push_back(input.empty() ? kNoValue : builder.input(input.type()));
  std::erase_if(inputs, [](const Tensor& input) { return input.empty(); });
  ISOMER_TRY(const NodeId id, builder.node(*find_op(name, domain), attrs, operands, num_results));
  ValueId loss = kNoValue;
  const uint32_t results = builder.at(id).num_results;
  for (uint32_t i = 0; i < results; ++i) {
    const ValueId y = builder.at(id).result(i);
    const TensorType type = builder.type(y);
    if (type.dtype != DType::Double || (!used.empty() && std::ranges::find(used, i) == used.end())) continue;
    const ValueId factors = builder.constant(random_tensor(DType::Double, *concrete(*type.shape), 77 + i));
    ISOMER_TRY(const ValueId product, builder.add(op("Mul"), {}, {y, factors}));
    Ints axes;
    for (size_t axis = 0; axis < type.rank(); ++axis) axes.push_back(static_cast<int64_t>(axis));
    ISOMER_TRY(const ValueId sum, builder.add(op("ReduceSum"), {{"axes", axes}, {"keepdims", int64_t{0}}}, {product}));
    if (loss == kNoValue) {
      loss = sum;
    } else {
      ISOMER_TRY(loss, builder.add(op("Add"), {}, {loss, sum}));
    }
  }
  Graph graph = builder.finish({&loss, 1});
  const ValueId output = graph.outputs()[0];
  return GradientCase{std::move(graph), output, std::move(inputs)};
}

inline std::vector<Tensor> run_or_throw(const Graph& graph, const std::vector<Tensor>& inputs) {
  auto outputs = run_reference(graph, inputs);
  if (!outputs) throw std::runtime_error(outputs.error().message);
  return std::move(*outputs);
}

/// The gradients of the case for its real inputs as the executor computes them for `inputs`. An input on which the loss
/// does not depend has the gradient zero.
inline std::vector<Tensor> computed_gradients(const GradientCase& test, const std::vector<Tensor>& inputs) {
  std::vector<ValueId> wanted;
  for (const size_t i : test.reals()) wanted.push_back(test.graph.inputs()[i]);
  const auto gradients = with_gradients(test.graph, test.loss, wanted);
  if (!gradients) throw std::runtime_error(gradients.error().message);
  const std::vector<Tensor> outputs = run_or_throw(gradients->graph, inputs);
  std::vector<Tensor> out;
  for (size_t k = 0; k < wanted.size(); ++k) {
    const auto& at = gradients->outputs[k];
    const Tensor& x = inputs[test.reals()[k]];
    out.push_back(at ? outputs[*at] : Tensor::zeros(x.dtype(), x.dims()));
    EXPECT_EQ(out.back().dims(), x.dims());
  }
  return out;
}

/// The loss, which is output 0.
template <class T>
T loss_at(const GradientCase& test, const std::vector<Tensor>& inputs) {
  return run_or_throw(test.graph, inputs)[0].data<T>()[0];
}

/// Compares each element of each gradient with the central difference.
inline void expect_finite_differences(const GradientCase& test, double tolerance = 1e-6) {
  const std::vector<Tensor> gradients = computed_gradients(test, test.inputs);
  constexpr double kStep = 1e-5;
  for (size_t k = 0; k < gradients.size(); ++k) {
    const size_t input = test.reals()[k];
    const auto x = test.inputs[input].data<double>();
    for (size_t i = 0; i < x.size(); ++i) {
      const auto moved = [&](double by) {
        std::vector<double> elements(x.begin(), x.end());
        elements[i] += by;
        std::vector<Tensor> inputs = test.inputs;
        inputs[input] = Tensor::of<double>(DType::Double, test.inputs[input].dims(), elements);
        return loss_at<double>(test, inputs);
      };
      const double difference = (moved(kStep) - moved(-kStep)) / (2 * kStep);
      const double gradient = gradients[k].data<double>()[i];
      ASSERT_NEAR(gradient, difference, tolerance * std::max(1.0, std::abs(difference)))
          << "input " << input << ", element " << i;
    }
  }
}

/// The derivative at 0 of the polynomial that has these values at 0, 1, 2, ...
inline Fp derivative_at_zero(const std::vector<Fp>& values) {
  // By Newton's forward differences: f(t) = sum of d_k binomial(t, k), whose derivative at 0 is (-1)^(k-1) d_k / k.
  Fp out;
  std::vector<Fp> differences = values;
  for (size_t k = 1; k < values.size(); ++k) {
    for (size_t i = 0; i + k < values.size(); ++i) differences[i] = differences[i + 1] - differences[i];
    const Fp term = differences[0] / Fp(static_cast<int64_t>(k));
    out = k % 2 == 1 ? out + term : out - term;
  }
  return out;
}

/// Compares gradients with the formal derivative in the prime field, exactly. The loss must be a polynomial of a degree
/// below `points` - 1: along a random line it is a polynomial of one variable, whose coefficients its values determine.
/// The linear one is what dual numbers x + direction * eps give as the coefficient of eps.
inline void expect_formal_derivative(const GradientCase& test, uint64_t seed = 1, size_t points = 10) {
  std::vector<Tensor> inputs = test.inputs;
  std::vector<Tensor> directions;
  for (const size_t i : test.reals()) {
    inputs[i] = random_tensor(DType::Field, inputs[i].dims(), seed++);
    directions.push_back(random_tensor(DType::Field, inputs[i].dims(), seed++));
  }
  const std::vector<Tensor> gradients = computed_gradients(test, inputs);
  Fp expected;
  for (size_t k = 0; k < gradients.size(); ++k)
    for (size_t i = 0; i < gradients[k].data<Fp>().size(); ++i)
      expected += gradients[k].data<Fp>()[i] * directions[k].data<Fp>()[i];
  std::vector<Fp> values;
  for (size_t t = 0; t < points; ++t) {
    std::vector<Tensor> moved = inputs;
    for (size_t k = 0; k < directions.size(); ++k) {
      const auto x = inputs[test.reals()[k]].data<Fp>();
      std::vector<Fp> elements(x.begin(), x.end());
      for (size_t i = 0; i < elements.size(); ++i)
        elements[i] += Fp(static_cast<int64_t>(t)) * directions[k].data<Fp>()[i];
      moved[test.reals()[k]] = Tensor::of<Fp>(DType::Field, inputs[test.reals()[k]].dims(), elements);
    }
    values.push_back(loss_at<Fp>(test, moved));
  }
  // Fewer points give the same derivative only if the loss is a polynomial of a low degree.
  ASSERT_EQ(derivative_at_zero(values), derivative_at_zero({values.begin(), values.end() - 1})) << "no polynomial";
  ASSERT_EQ(derivative_at_zero(values), expected);
}

/// Doubles drawn uniformly from [low, high).
inline Tensor uniform_tensor(const std::vector<int64_t>& dims, uint64_t seed, double low = -2, double high = 2) {
  const Tensor field = random_tensor(DType::Field, dims, seed);
  std::vector<double> elements;
  for (const Fp v : field.data<Fp>())
    elements.push_back(low + (high - low) * static_cast<double>(v.residue()) / static_cast<double>(Fp::kPrime));
  return Tensor::of<double>(DType::Double, dims, elements);
}

}  // namespace isomer::testing
