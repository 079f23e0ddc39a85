#pragma once
// Helpers for tests that compare plans with the reference executor.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "isomer/engine/onednn/plan.h"
#include "isomer/engine/onednn/tuner.h"
#include "isomer/eval/executor.h"
#include "isomer/eval/random.h"
#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"

namespace isomer::onednn {

/// Adds the attributes of two-dimensional windows that a line of text omits.
inline std::string with_windows(const std::string& text) {
  static const std::pair<const char*, const char*> kPresets[] = {
      {"strides", "[1,1]"}, {"dilations", "[1,1]"}, {"pads", "[0,0,0,0]"}};
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("= Conv(") != std::string::npos || line.find("Pool(") != std::string::npos) {
      if (line.find("= Global") == std::string::npos) {
        if (line.find('{') == std::string::npos) line += " {}";
        std::string missing;
        for (const auto& [name, value] : kPresets)
          if (line.find(std::string(name) + "=") == std::string::npos)
            missing += (missing.empty() ? "" : ", ") + std::string(name) + "=" + value;
        const size_t open = line.find('{') + 1;
        if (!missing.empty() && line[open] != '}') missing += ", ";
        line.insert(open, missing);
      }
    }
    out += line + "\n";
  }
  return out;
}

inline Graph graph_of(const std::string& text) {
  auto graph = parse_graph(with_windows(text), find_op);
  if (!graph) throw std::runtime_error(graph.error().message);
  return std::move(*graph);
}

/// Returns random inputs for types without symbols.
inline std::vector<Tensor> inputs_of(const Graph& graph, uint64_t seed = 1) {
  std::vector<Tensor> inputs;
  for (const ValueId input : graph.inputs()) {
    const TensorType& type = graph.type(input);
    inputs.push_back(random_tensor(type.dtype, *concrete(*type.shape), seed++));
  }
  return inputs;
}

inline std::vector<TensorType> types_of(std::span<const Tensor> tensors) {
  std::vector<TensorType> types;
  for (const Tensor& tensor : tensors) types.push_back(tensor.type());
  return types;
}

inline Plan plan_of(const Graph& graph, std::span<const Tensor> inputs, const PlanOptions& options = {.tune = false},
                    const std::shared_ptr<Tuner>& tuner = nullptr) {
  auto plan = Plan::make(graph, types_of(inputs), options, tuner);
  if (!plan) throw std::runtime_error(plan.error().message);
  return std::move(*plan);
}

/// Returns the largest difference of f32 elements, relative to the largest element (at least 0.1); infinite if the
/// types differ or anything else is not equal.
inline double difference(const Tensor& got, const Tensor& expected) {
  if (got.type() != expected.type()) return INFINITY;
  if (got.dtype() != DType::Float) return got == expected ? 0 : INFINITY;
  double most = 0;
  double largest = 0.1;
  for (size_t i = 0; i < got.data<float>().size(); ++i) {
    const double a = got.data<float>()[i];
    const double b = expected.data<float>()[i];
    if (std::isnan(a) != std::isnan(b)) return INFINITY;
    if (std::isfinite(b)) largest = std::max(largest, std::abs(b));
    if (a != b && !std::isnan(a)) most = std::max(most, std::abs(a - b));
  }
  return most / largest;
}

/// Returns the maximum `difference` that a plan may have. bf16 rounds by up to 2^-9 of each term of a sum, and the sum
/// may be much smaller than its terms (terms of both signs, clipping). An eighth of the largest element still detects
/// wrong results, which are off by about the largest; precision_test.cc tests how accurately products are computed.
inline double tolerance(const PlanOptions& options) { return options.dtype == DType::Float ? 1e-4 : 0.125; }

/// Runs a graph twice by its plan, once by a plan for several streams, and once by the reference executor, and
/// compares. Returns the kernels of the plan.
inline std::vector<PlanKernel> expect_as_reference(const Graph& graph, std::span<const Tensor> inputs,
                                                   const PlanOptions& options = {.tune = false},
                                                   const std::shared_ptr<Tuner>& tuner = nullptr) {
  const auto expected = run_reference(graph, inputs);
  EXPECT_TRUE(expected.has_value()) << (expected ? "" : expected.error().message);
  const auto plan = Plan::make(graph, types_of(inputs), options, tuner);
  EXPECT_TRUE(plan.has_value()) << (plan ? "" : plan.error().message);
  if (!expected || !plan) return {};
  for (int run = 0; run < 2; ++run) {
    const auto got = plan->run(inputs);
    EXPECT_TRUE(got.has_value()) << (got ? "" : got.error().message);
    if (!got) return {};
    for (size_t i = 0; i < expected->size(); ++i)
      EXPECT_LE(difference((*got)[i], (*expected)[i]), tolerance(options)) << "output " << i << " of\n"
                                                                           << print_graph(graph, {.max_elements = 8});
  }
  if (options.streams > 1 || options.threads > 1) return plan->kernels();
  PlanOptions parallel = options;
  parallel.streams = 3;
  const auto got = plan_of(graph, inputs, parallel, tuner).run(inputs);
  EXPECT_TRUE(got.has_value()) << (got ? "" : got.error().message);
  for (size_t i = 0; got && i < expected->size(); ++i)
    EXPECT_LE(difference((*got)[i], (*expected)[i]), tolerance(options)) << "output " << i << " on several streams of\n"
                                                                         << print_graph(graph, {.max_elements = 8});
  return plan->kernels();
}

inline std::vector<PlanKernel> expect_as_reference(const std::string& text,
                                                   const PlanOptions& options = {.tune = false}) {
  const Graph graph = graph_of(text);
  return expect_as_reference(graph, inputs_of(graph), options);
}

/// A tuner that measures nothing.
class MadeUpTimes : public Tuner {
 public:
  explicit MadeUpTimes(std::shared_ptr<TuningStore> kept = nullptr) : Tuner(true, std::move(kept)) {}

 private:
  /// Returns the time of a kernel. Throws dnnl::error if it cannot be made.
  virtual double made_up(const Contender& contender) = 0;
  std::vector<double> measure(std::span<const Contender> contenders) override {
    std::vector<double> us;
    for (const Contender& contender : contenders) {
      us.push_back(std::numeric_limits<double>::infinity());
      try {
        us.back() = made_up(contender);
      } catch (const dnnl::error&) {
        continue;
      }
    }
    return us;
  }
};

/// Finds the kernels whose keys have a text fast, and all others slow.
class Preferring : public MadeUpTimes {
 public:
  explicit Preferring(std::string text) : text_(std::move(text)) {}

 private:
  double made_up(const Contender& contender) override {
    contender.trial().run();  // it must be possible
    return contender.key.find(text_) == std::string::npos ? 1e6 : 1;
  }

  const std::string text_;
};

/// Likewise, with our own kernels wherever there are some.
inline std::vector<PlanKernel> expect_own_as_reference(const std::string& text) {
  const Graph graph = graph_of(text);
  return expect_as_reference(graph, inputs_of(graph), {}, std::make_shared<Preferring>("own:"));
}

inline int count_of(const std::vector<PlanKernel>& kernels, const std::string& name) {
  return static_cast<int>(std::ranges::count(kernels, name, &PlanKernel::name));
}
inline int references(const std::vector<PlanKernel>& kernels) {
  return static_cast<int>(std::ranges::count(kernels, "reference", &PlanKernel::implementation));
}

}  // namespace isomer::onednn
