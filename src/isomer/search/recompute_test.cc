#include "isomer/search/recompute.h"

#include <gtest/gtest.h>

#include <limits>

#include "isomer/cost/kernel_cost.h"
#include "isomer/cost/objective.h"
#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/planner.h"
#include "isomer/engine/stub_testing.h"
#include "isomer/plan/recomputation.h"
#include "isomer/search/checkpoints.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

/// Plans as the built-in runtime does. Convolutions take ten times as long as other kernels.
class PricedEngine : public StubEngine {
 public:
  const KernelPlanner* planner() const override { return &planner_; }
  Result<double> kernel_overhead() override { return 0; }
  Result<KernelTime> time_kernel(const KernelRun& run, double) override {
    const bool conv = std::ranges::any_of(run.graph.nodes(), [](const Node& node) { return node.op->name == "Conv"; });
    return KernelTime{.us = conv ? 100.0 : 10.0, .runs = 1};
  }

 private:
  const OnednnPlanner planner_{onednn::native_block()};
};

/// Layers of a convolution and a function each, whose values are then read in the opposite order.
std::string layers_there_and_back(int layers) {
  std::string text = "input v0: f32[1,16,16,16]\nw = f32[16,16,1,1]{seed 1}\n";
  for (int i = 1; i <= layers; ++i)
    text += fmt::format(
        "c{0} = Conv(v{1}, w) {{strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}}\nt{0} = Softmax(c{0}) "
        "{{axis=3}}\nv{0} = Exp(t{0})\n",
        i, i - 1);
  text += fmt::format("g{0} = Softmax(v{0}) {{axis=3}}\n", layers);
  for (int i = layers; i > 0; --i)
    text += fmt::format(
        "a{0} = Mul(g{0}, v{0})\nb{0} = Conv(a{0}, w) {{strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}}\ng{1} = "
        "Mul(b{0}, c{0})\n",
        i, i - 1);
  return text + "return g0\n";
}

struct Traded {
  double bytes;
  double us;
};

Traded traded(const Metrics& metrics) { return {metrics.peak_bytes, metrics.latency_us}; }

double least_us(std::span<const Traded> all, double bytes) {
  double us = std::numeric_limits<double>::infinity();
  for (const Traded& one : all)
    if (one.bytes <= bytes) us = std::min(us, one.us);
  return us;
}

class RecomputeSteps : public testing::Test {
 protected:
  /// Keeps every `distance`-th layer and computes all else of the way there twice.
  static Candidate checkpoints(const Graph& graph, int distance) {
    Candidate out(graph);
    for (ValueId value = 0; value < graph.num_values(); ++value) {
      const std::string& name = graph.name(value);
      const bool kept = name[0] == 'v' && std::stoi(name.substr(1)) % distance == 0;
      if ((name[0] == 'v' || name[0] == 'c' || name[0] == 't') && !kept)
        out.decisions.computations.emplace(value, Computation::Twice);
    }
    return out;
  }

  /// The latency, if no more than some bytes are needed.
  static RecomputeObjective limited(double bytes) {
    return [=](const Candidate&, const Metrics& metrics) {
      return metrics.peak_bytes > bytes ? kBeyondLimits + metrics.peak_bytes * 1e20 : metrics.latency_us;
    };
  }

  static std::vector<Traded> steps(const Graph& graph, CostModel& costs) {
    Recompute search = Recompute::make(graph, costs).value();
    std::vector<Traded> out{traded(search.metrics())};
    while (search.step().value()) {
      out.push_back(traded(search.metrics()));
      EXPECT_EQ(out.back().bytes, costs.metrics(search.candidate()).value().peak_bytes);
    }
    return out;
  }

  PricedEngine engine_;
  ProfileDb db_ = ProfileDb::open({}).value();
  const std::unique_ptr<KernelCost> costs_ = KernelCost::make(engine_, db_, {}).value();
};

TEST_F(RecomputeSteps, AreNeverWorseThanCheckpoints) {
  for (const int layers : {4, 9, 16}) {
    const Graph graph = parsed(layers_there_and_back(layers));
    const std::vector<Traded> found = steps(graph, *costs_);
    EXPECT_LT(found.back().bytes, 0.75 * found.front().bytes) << layers;
    for (int distance = 1; distance <= layers; ++distance) {
      const Traded other = traded(costs_->metrics(checkpoints(graph, distance)).value());
      EXPECT_LE(least_us(found, other.bytes), other.us) << layers << " layers, each " << distance << " kept";
    }
  }
}

TEST_F(RecomputeSteps, AreNotFarFromTheBest) {
  const Graph graph = parsed(layers_there_and_back(3));
  std::vector<ValueId> values;
  for (ValueId value = 0; value < graph.num_values(); ++value)
    if (std::string("ctv").find(graph.name(value)[0]) != std::string::npos && is_recomputable(graph, value))
      values.push_back(value);
  ASSERT_EQ(values.size(), 9U);
  std::vector<Traded> all;
  for (size_t set = 0; set < size_t{1} << values.size(); ++set) {
    Candidate candidate(graph);
    for (size_t i = 0; i < values.size(); ++i)
      if ((set >> i & 1) != 0) candidate.decisions.computations.emplace(values[i], Computation::Twice);
    all.push_back(traded(costs_->metrics(candidate).value()));
  }
  for (const Traded& step : steps(graph, *costs_)) EXPECT_LE(step.us, 1.2 * least_us(all, step.bytes)) << step.bytes;
}

/// Other costs, until they have been asked a number of times.
class FailingCosts : public CostModel {
 public:
  FailingCosts(CostModel& costs, int left) : costs_(costs), left_(left) {}
  Result<Metrics> metrics(const Candidate& candidate, const Boundary& boundary) override {
    if (left_-- <= 0) return fail("no time is left to measure it");
    return costs_.metrics(candidate, boundary);
  }
  Result<std::vector<PlannedKernel>> kernels(const Candidate& candidate) override { return costs_.kernels(candidate); }
  Result<PeakMemory> peak_memory(const Candidate& candidate) override { return costs_.peak_memory(candidate); }
  std::vector<double> value_bytes(const Graph& graph) const override { return costs_.value_bytes(graph); }

 private:
  CostModel& costs_;
  int left_;
};

/// Other costs, but nobody knows what memory holds.
class CostsWithoutSteps : public FailingCosts {
 public:
  explicit CostsWithoutSteps(CostModel& costs) : FailingCosts(costs, std::numeric_limits<int>::max()) {}
  Result<PeakMemory> peak_memory(const Candidate&) override { return fail("not known"); }
};

TEST_F(RecomputeSteps, AreNotTheOnlyWay) {
  CostsWithoutSteps costs(*costs_);
  const Graph graph = parsed(layers_there_and_back(16));
  const double whole = costs_->metrics(graph).value().peak_bytes;
  const std::vector<Candidate> made =
      with_checkpoints(graph, [&](const Candidate& candidate) { return costs_->peak_memory(candidate)->bytes; });
  ASSERT_GE(made.size(), 4);
  for (const Candidate& candidate : made) {
    const Traded even = traded(costs_->metrics(candidate).value());
    ASSERT_LT(even.bytes, whole);
    const Candidate found = recompute(graph, costs, Deadline::never(), limited(even.bytes)).value();
    const Traded best = traded(costs_->metrics(found).value());
    EXPECT_LE(best.bytes, even.bytes);
    EXPECT_LE(best.us, even.us);
  }
}

TEST_F(RecomputeSteps, KeepWhatTheyFoundIfACostIsMissing) {
  const Graph graph = parsed(layers_there_and_back(9));
  const auto memory = [](const Candidate&, const Metrics& metrics) { return metrics.peak_bytes; };
  FailingCosts none(*costs_, 0);
  EXPECT_FALSE(recompute(graph, none, Deadline::never(), memory).has_value());
  const double whole = costs_->metrics(graph).value().peak_bytes;
  double before = whole;
  for (int left = 1; left < 12; ++left) {
    FailingCosts some(*costs_, left);
    const Candidate found = recompute(graph, some, Deadline::never(), memory).value();
    const double bytes = costs_->metrics(found).value().peak_bytes;
    EXPECT_LE(bytes, before) << left;
    EXPECT_EQ((bytes < whole), (left > 1)) << "checkpoints come before steps: " << left;
    before = bytes;
  }
}

TEST_F(RecomputeSteps, KeepTheDecisionsOfTheUser) {
  const Graph graph = parsed(layers_there_and_back(9));
  std::map<std::string, Computation> decided{{"t3", Computation::Twice}, {"t2", Computation::Once},
                                             {"c2", Computation::Once},  {"v2", Computation::Once},
                                             {"t5", Computation::Once},  {"v1", Computation::Twice}};
  Candidate first(graph);
  for (ValueId value = 0; value < graph.num_values(); ++value)
    if (const auto entry = decided.find(graph.name(value)); entry != decided.end())
      first.decisions.computations.emplace(value, entry->second);
  const Metrics whole = costs_->metrics(first).value();
  for (const double share : {0.4, 0.6, 1.0}) {
    const Candidate found = recompute(first, *costs_, Deadline::never(), limited(share * whole.peak_bytes)).value();
    for (const auto& [value, computation] : first.decisions.computations) {
      ASSERT_TRUE(found.decisions.computations.contains(value)) << graph.name(value);
      EXPECT_EQ(found.decisions.computations.at(value), computation) << graph.name(value);
    }
    EXPECT_EQ(found.decisions == first.decisions, share == 1.0);
  }
}

TEST_F(RecomputeSteps, TakeNoMoreTimeThanTheLeastMemoryNeeds) {
  const auto memory = [](const Candidate&, const Metrics& metrics) { return metrics.peak_bytes; };
  const Graph graph = parsed(layers_there_and_back(9));
  const Candidate found = recompute(graph, *costs_, Deadline::never(), memory).value();
  const Metrics best = costs_->metrics(found).value();
  for (const auto& [value, computation] : found.decisions.computations) {
    Candidate less = found;
    less.decisions.computations.erase(value);
    const Metrics once = costs_->metrics(less).value();
    EXPECT_TRUE(once.peak_bytes > best.peak_bytes || once.latency_us > 0.999 * best.latency_us) << graph.name(value);
  }
}

TEST_F(RecomputeSteps, AreTakenBackWhereMemoryIsLeft) {
  for (const int layers : {4, 9, 16}) {
    const Graph graph = parsed(layers_there_and_back(layers));
    for (int distance = 1; distance <= layers; distance *= 2) {
      const Traded other = traded(costs_->metrics(checkpoints(graph, distance)).value());
      const Candidate found = recompute(graph, *costs_, Deadline::never(), limited(other.bytes)).value();
      const Traded best = traded(costs_->metrics(found).value());
      EXPECT_LE(best.bytes, other.bytes) << layers << " layers, each " << distance << " kept";
      EXPECT_LE(best.us, other.us) << layers << " layers, each " << distance << " kept";
      for (const auto& [value, computation] : found.decisions.computations) {
        Candidate less = found;
        less.decisions.computations.erase(value);
        const Traded once = traded(costs_->metrics(less).value());
        EXPECT_TRUE(once.bytes > other.bytes || once.us >= best.us)
            << graph.name(value) << " need not be computed twice";
      }
    }
  }
}

TEST_F(RecomputeSteps, EndAtTheObjective) {
  const Graph graph = parsed(layers_there_and_back(9));
  const Metrics whole = costs_->metrics(graph).value();
  const Candidate kept = recompute(graph, *costs_, Deadline::never(), limited(whole.peak_bytes)).value();
  EXPECT_TRUE(kept.decisions.empty());
  const Candidate less = recompute(graph, *costs_, Deadline::never(), limited(0.8 * whole.peak_bytes)).value();
  const Metrics metrics = costs_->metrics(less).value();
  EXPECT_LE(metrics.peak_bytes, 0.8 * whole.peak_bytes);
  EXPECT_GT(metrics.latency_us, whole.latency_us);
}

}  // namespace
}  // namespace isomer
