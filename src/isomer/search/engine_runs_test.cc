#include "isomer/search/engine_runs.h"

#include <gmock/gmock.h>

#include "isomer/engine/in_process.h"
#include "isomer/eval/executor.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// Counts how often models are loaded, unloaded and run. From the run number `failing` on, runs fail.
class Counting : public InProcessEngine {
 public:
  std::string name() const override { return "counting"; }
  std::string version() const override { return "1"; }
  int threads() const override { return 1; }
  Status unload(SessionId session) override {
    ++unloads;
    return InProcessEngine::unload(session);
  }

  int loads = 0, unloads = 0, runs = 0;
  int failing = 1000;

 private:
  class Counted : public Run {
   public:
    Counted(Counting& engine, const Graph& graph, std::vector<Tensor> inputs)
        : engine_(engine), graph_(graph), inputs_(std::move(inputs)) {}
    Result<std::vector<Tensor>> whole() override {
      if (++engine_.runs >= engine_.failing) return fail("it cannot");
      return run_reference(graph_, inputs_);
    }

   private:
    Counting& engine_;
    const Graph& graph_;
    const std::vector<Tensor> inputs_;
  };

  Status accept(SessionId, const Model&) override {
    ++loads;
    return {};
  }
  Result<std::unique_ptr<Run>> prepare(SessionId, const Model& model, std::vector<Tensor> inputs) override {
    return std::make_unique<Counted>(*this, model.graph, std::move(inputs));
  }
};

class EngineRunsTest : public testing::Test {
 protected:
  EngineRunsTest() { EXPECT_TRUE(export_model(model_, path_).has_value()); }

  static Graph graph(const std::string& text) { return parse_graph(text, find_op).value(); }
  EngineRuns runs() { return {engine_, engine_, model_, path_, {}, 1, 1e-3, TempDir::make().value()}; }

  const TempDir folder_ = TempDir::make().value();
  const std::filesystem::path path_ = folder_.path() / "model.onnx";
  const Model model_ = make_model(graph("input x: f32[4]\ny = Add(x, x)\nz = Relu(y)\nreturn z"), "model", 17);
  const Candidate equal_{graph("input x: f32[4]\nr = Relu(x)\ny = Add(r, r)\nreturn y")};
  const Candidate other_{graph("input x: f32[4]\ny = Add(x, x)\nreturn y")};
  Counting engine_;
};

TEST_F(EngineRunsTest, ComparesAllInputsAfterOneLoadOfEachModel) {
  EngineRuns runs = this->runs();
  const Equivalence same = runs.equivalence(equal_, 3).value();
  EXPECT_TRUE(same.holds) << same.problem;
  EXPECT_EQ(same.inputs, 3);
  EXPECT_EQ(engine_.loads, 2);
  EXPECT_EQ(engine_.runs, 6);
  // What the model computes is known now.
  EXPECT_FALSE(runs.equivalence(other_, 3).value().holds);
  EXPECT_EQ(engine_.loads, 3);
  EXPECT_EQ(engine_.runs, 9);
  EXPECT_EQ(engine_.unloads, engine_.loads);
}

/// A model that amplifies rounding: the sine of large angles.
class AmplifyingRuns : public EngineRunsTest {
 protected:
  AmplifyingRuns() { EXPECT_TRUE(export_model(amplifying_, path_).has_value()); }

  EngineRuns runs(std::optional<double> tolerance) {
    return {engine_, engine_, amplifying_, path_, {}, 1, tolerance, TempDir::make().value()};
  }
  /// The sine of 2000 times the sum of the inputs, in another order; then the product with a factor.
  static Candidate reordered(const std::string& factor) {
    return Candidate(graph("input x: f32[64]\na = f32[]{700}\nb = f32[]{1300}\nf = f32[]{" + factor +
                           "}\np = Mul(x, a)\nq = Mul(x, b)\ns = Add(p, q)\ny = Sin(s)\nz = Mul(y, f)\n" + "return z"));
  }

  const Model amplifying_ =
      make_model(graph("input x: f32[64]\nc = f32[]{2000}\np = Mul(x, c)\ny = Sin(p)\nreturn y"), "sine", 17);
};

TEST_F(AmplifyingRuns, RoundingMayMoveOutputsAsFarAsItMovesTheModels) {
  EngineRuns runs = this->runs(std::nullopt);
  const Equivalence same = runs.equivalence(reordered("1"), 1).value();
  EXPECT_TRUE(same.holds) << same.problem;
  EXPECT_GT(same.max_rel, Movement::kTolerance) << "so the test tests something";
  EXPECT_GT(same.movement, 0.1 * same.max_rel);
  EXPECT_LT(same.movement, 10 * same.max_rel);
  EXPECT_EQ(engine_.runs, 3) << "one trial suffices";
  EXPECT_EQ(engine_.unloads, engine_.loads);
  const Equivalence other = runs.equivalence(reordered("1.01"), 1).value();
  EXPECT_FALSE(other.holds);
  EXPECT_THAT(other.problem, testing::HasSubstr("if only the last bits of inputs change"));
  EXPECT_EQ(engine_.runs, 3 + Movement::kTrials) << "the first trial is known";
  EXPECT_EQ(engine_.unloads, engine_.loads);
}

TEST_F(AmplifyingRuns, AGivenToleranceIsStrict) {
  EngineRuns runs = this->runs(1e-4);
  EXPECT_FALSE(runs.equivalence(reordered("1"), 1).value().holds);
  EXPECT_EQ(engine_.runs, 2);
}

TEST_F(EngineRunsTest, UnloadsWhatFails) {
  engine_.failing = 2;
  EngineRuns runs = this->runs();
  EXPECT_FALSE(runs.equivalence(equal_, 3).has_value());
  EXPECT_EQ(engine_.loads, 1);
  EXPECT_EQ(engine_.unloads, 1);
}

TEST_F(EngineRunsTest, RunsNothingAfterTheDeadline) {
  EngineRuns runs = this->runs();
  runs.deadline = Deadline::after(0);
  EXPECT_FALSE(runs.equivalence(equal_, 1).has_value());
  EXPECT_EQ(engine_.loads, 0);
}

}  // namespace
}  // namespace isomer
