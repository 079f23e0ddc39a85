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
