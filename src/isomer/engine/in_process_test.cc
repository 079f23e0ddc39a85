#include "isomer/engine/in_process.h"

#include <gmock/gmock.h>

#include <limits>

#include "isomer/base/temp_dir.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// Notes which model runs a part. The first model's runs have three parts, those of others two; the fifth fails.
class Noting : public InProcessEngine {
 public:
  Noting() { pausing_us_ = 0; }
  std::string name() const override { return "noting"; }
  std::string version() const override { return "1"; }
  int threads() const override { return 1; }

  void pause_from(double us) { pausing_us_ = us; }

  std::string parts;           // a letter for each
  std::vector<double> limits;  // the microseconds of each
  size_t wholes = 0;

 private:
  class Pausing : public Run {
   public:
    Pausing(Noting& engine, SessionId session) : engine_(engine), session_(session) {}
    Result<std::vector<Tensor>> whole() override {
      ++engine_.wholes;
      return std::vector<Tensor>();
    }
    Result<bool> part(double us) override {
      engine_.limits.push_back(us);
      if (session_ == 5) return fail("it cannot");
      engine_.parts += static_cast<char>('a' + session_ - 1);
      return ++done_ % (session_ == 1 ? 3 : 2) == 0;
    }

   private:
    Noting& engine_;
    const SessionId session_;
    int done_ = 0;
  };

  Result<std::unique_ptr<Run>> prepare(SessionId session, const Model&, std::vector<Tensor>) override {
    return std::make_unique<Pausing>(*this, session);
  }
};

class InProcess : public testing::Test {
 protected:
  InProcess() {
    const auto path = folder_.path() / "relu.onnx";
    Graph relu = parse_graph("input x: f32[1]\ny = Relu(x)\nreturn y", find_op).value();
    EXPECT_TRUE(export_model(make_model(std::move(relu), "relu", 17), path).has_value());
    for (int i = 0; i < 5; ++i) sessions_.push_back(engine_.load(path).value());
  }

  Result<std::vector<std::vector<double>>> time(std::vector<SessionId> sessions) {
    const std::vector<std::vector<NamedTensor>> inputs(sessions.size(), {{"x", Tensor::floats({1}, {1})}});
    return engine_.time_interleaved(sessions, inputs, {.warmup = 1, .min_runs = 2, .max_runs = 2});
  }

  const TempDir folder_ = TempDir::make().value();
  Noting engine_;
  std::vector<SessionId> sessions_;
};

TEST_F(InProcess, PartsOfRunsTakeTurns) {
  const auto samples = time({sessions_[0], sessions_[1]});
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  // A warm-up and two runs; the second one begins with the other model.
  EXPECT_EQ(engine_.parts,
            "ababa"
            "ababa"
            "babaa");
  for (const auto& one : *samples) EXPECT_EQ(one.size(), 2);
  EXPECT_EQ(engine_.wholes, 0);
}

TEST_F(InProcess, OneModelDoesNotPause) {
  ASSERT_TRUE(time({sessions_[0]}).has_value());
  EXPECT_THAT(engine_.limits, testing::Each(std::numeric_limits<double>::infinity()));
  engine_.limits.clear();
  ASSERT_TRUE(time({sessions_[0], sessions_[1]}).has_value());
  // The last part of the longer run waits for nobody.
  EXPECT_THAT(engine_.limits, testing::Contains(std::numeric_limits<double>::infinity()).Times(3));
}

TEST_F(InProcess, ShortRunsDoNotPause) {
  engine_.pause_from(1e9);
  ASSERT_TRUE(time({sessions_[0], sessions_[1]}).has_value());
  EXPECT_THAT(engine_.limits, testing::Each(std::numeric_limits<double>::infinity()));
}

TEST_F(InProcess, AFailedPartEndsTheTiming) {
  const auto failed = time({sessions_[0], sessions_[4]});
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().message, "it cannot");
}

}  // namespace
}  // namespace isomer
