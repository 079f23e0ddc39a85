#include "isomer/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <thread>

#include "isomer/base/file.h"
#include "isomer/base/processor.h"
#include "isomer/base/stats.h"
#include "isomer/engine/inputs.h"
#include "isomer/engine/worker/worker_engine.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/testing.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Returns the message of a Result that should have failed.
template <class T>
std::string error_of(const Result<T>& result) {
  return result ? "(no error)" : result.error().message;
}

class EngineTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  /// Writes a model file.
  fs::path model(const std::string& name, const std::string& text, int opset = 17) const {
    auto graph = parse_graph(text, find_op);
    EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message);
    fs::path path = folder_ / (name + ".onnx");
    const Status written = export_model(make_model(std::move(*graph), name, opset), path);
    EXPECT_TRUE(written.has_value()) << (written ? "" : written.error().message);
    return path;
  }

  /// Returns an engine that must be available: if its Python package is missing, this fails and says what to install.
  static std::unique_ptr<Engine> engine(const std::string& name, const EngineOptions& options = {}) {
    auto made = make_engine(name, options);
    if (!made) throw std::runtime_error(made.error().message);
    return std::move(*made);
  }

  /// A Python that writes its process id to a file before it becomes the worker.
  std::string traced_python(const std::string& before = "") const {
    const fs::path script = folder_ / "python.sh";
    std::ofstream(script) << "#!/bin/sh\necho $$ >> '" << (folder_ / "pids").string() << "'\n"
                          << before << "\nexec '" << kVenvPython << "' \"$@\"\n";
    ::chmod(script.c_str(), 0755);
    return script.string();
  }
  std::vector<pid_t> pids() const {
    std::ifstream in(folder_ / "pids");
    return {std::istream_iterator<pid_t>(in), std::istream_iterator<pid_t>()};
  }

  // The tests of this file may run at the same time, each as a separate process.
  const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("isomer_engine_test_{}", ::getpid());
};

TEST_F(EngineTest, PrefersTheChannelBlocksOfItsLayouts) {
  const auto graph = parse_graph(
      "input x: f32[1,16,8,8]\n w = f32[16,16,1,1]{seed 1}\n"
      " y = Conv(x, w) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}\n return y",
      find_op);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  for (const char* name : {"onednn", "ort"}) {
    const auto ours = engine(name);
    const int64_t block = ours->planner()->plan(*graph)->block;
    EXPECT_EQ(ours->channel_blocks(), block > 1 ? std::vector{block} : std::vector<int64_t>{}) << name;
  }
  EXPECT_TRUE(engine("reference")->channel_blocks().empty());
}

constexpr const char* kMatMul = "input x: f32[N,N]\n y = MatMul(x, x)\n z = Relu(y)\n return y, z";
const std::vector<NamedTensor> kX = {{"x", Tensor::floats({2, 2}, {1, 2, -3, 4})}};

class EveryEngine : public EngineTest, public testing::WithParamInterface<const char*> {};

TEST_P(EveryEngine, Runs) {
  const auto ours = engine(GetParam());
  EXPECT_EQ(ours->name(), GetParam());
  EXPECT_FALSE(ours->version().empty());
  EXPECT_FALSE(ours->device().empty());
  EXPECT_EQ(ours->threads(), 1);
  const SessionId session = ours->load(model("matmul", kMatMul)).value();
  const auto outputs = ours->run(session, kX);
  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  ASSERT_EQ(outputs->size(), 2);
  EXPECT_EQ((*outputs)[0], Tensor::floats({2, 2}, {-5, 10, -15, 10}));
  EXPECT_EQ((*outputs)[1], Tensor::floats({2, 2}, {0, 10, 0, 10}));
}

TEST_P(EveryEngine, TakesTheDefaultsOfInputsThatAreNotGiven) {
  auto graph = parse_graph("input x: f32[2]\n input w: f32[2]\n y = Mul(x, w)\n return y", find_op);
  const Model model = test::with_default(make_model(std::move(*graph), "m", 17), 1, Tensor::floats({2}, {3, 5}));
  ASSERT_TRUE(export_model(model, folder_ / "default.onnx").has_value());
  const auto ours = engine(GetParam());
  const SessionId session = ours->load(folder_ / "default.onnx").value();
  std::vector<NamedTensor> inputs = {{"x", Tensor::floats({2}, {1, 2})}};
  EXPECT_EQ(ours->run(session, inputs).value()[0], Tensor::floats({2}, {3, 10}));
  EXPECT_TRUE(ours->time_interleaved({&session, 1}, {&inputs, 1}, {.max_runs = 10}).has_value());
  inputs.emplace_back("w", Tensor::floats({2}, {1, 1}));
  if (ours->name() == "openvino") {  // makes constants of defaults
    EXPECT_THAT(error_of(ours->run(session, inputs)), HasSubstr("'w'"));
  } else {
    EXPECT_EQ(ours->run(session, inputs).value()[0], Tensor::floats({2}, {1, 2}));
  }
  inputs[1].first = "v";
  EXPECT_THAT(error_of(ours->run(session, inputs)), HasSubstr("v"));
  EXPECT_FALSE(ours->run(session, {}).has_value());
}

TEST_P(EveryEngine, EveryElementTypePasses) {
  const auto ours = engine(GetParam());
  for (int number = 1; number <= 16; ++number) {
    const DType dtype = *dtype_from_onnx(number);
    if (dtype == DType::Complex64 || dtype == DType::Complex128) continue;  // ONNX Runtime has none
    // OpenVINO computes in 32 bits what has 64.
    const bool narrowed = dtype == DType::Double || dtype == DType::Int64 || dtype == DType::Uint64;
    if (narrowed && ours->name() == "openvino") continue;
    const std::string name(dtype_name(dtype));
    const fs::path path = model(name, "input x: " + name + "[3]\n y = Concat(x, x) {axis=0}\n return y");
    const auto session = ours->load(path);
    ASSERT_TRUE(session.has_value()) << session.error().message;
    Tensor x = dtype == DType::String ? Tensor::strings({3}, {"one", "", "\xC3\xBC"}) : Tensor::zeros(dtype, {3});
    Tensor xx = dtype == DType::String ? Tensor::strings({6}, {"one", "", "\xC3\xBC", "one", "", "\xC3\xBC"})
                                       : Tensor::zeros(dtype, {6});
    if (dtype != DType::String) {
      const auto from = x.mutable_bytes(), to = xx.mutable_bytes();
      for (size_t i = 0; i < from.size(); ++i) {
        from[i] = to[i] = to[i + from.size()] = std::byte((i + 1) % (dtype == DType::Bool ? 2 : 64));
      }
    }
    const auto outputs = ours->run(*session, std::vector<NamedTensor>{{"x", x}});
    ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
    EXPECT_EQ((*outputs)[0], xx) << name;
  }
}

TEST_P(EveryEngine, ManyThreadsRunAtATime) {
  const auto ours = engine(GetParam());
  const SessionId session = ours->load(model("matmul", kMatMul)).value();
  std::vector<std::thread> threads;
  std::array<int, 4> wrong{};
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        // Two sets of extents: one thread may plan while another one runs.
        const int64_t extent = 1 + (i + static_cast<int64_t>(t)) % 2;
        const auto value = static_cast<float>(i);
        const Tensor x = Tensor::floats({extent, extent}, std::vector<float>(extent * extent, value));
        const auto outputs = ours->run(session, std::vector<NamedTensor>{{"x", x}});
        const float product = value * value * static_cast<float>(extent);
        const Tensor y = Tensor::floats({extent, extent}, std::vector<float>(extent * extent, product));
        if (!outputs || outputs->at(0) != y) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
}

TEST_F(EngineTest, PlansAreDroppedWhileTheyRun) {
  const auto ours = engine("onednn", {.max_plans = 1});
  const SessionId session = ours->load(model("matmul", kMatMul)).value();
  std::vector<std::thread> threads;
  std::array<int, 4> wrong{};
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      const auto extent = static_cast<int64_t>(t + 1);
      const auto elements = static_cast<size_t>(extent * extent);
      const std::vector<NamedTensor> x = {{"x", Tensor::floats({extent, extent}, std::vector<float>(elements, 1))}};
      const std::vector<float> product(elements, static_cast<float>(extent));
      for (int i = 0; i < 20; ++i) {
        const auto outputs = ours->run(session, x);
        if (!outputs || outputs->at(0) != Tensor::floats({extent, extent}, product)) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
}

TEST_P(EveryEngine, TimesInTurn) {
  const auto ours = engine(GetParam());
  const fs::path path = model("matmul", kMatMul);
  const std::vector<SessionId> sessions = {ours->load(path).value(), ours->load(path).value()};
  const std::vector<std::vector<NamedTensor>> inputs = {kX, kX};
  const auto few = ours->time_interleaved(sessions, inputs, {.warmup = 1, .min_runs = 7, .seconds = 0});
  ASSERT_TRUE(few.has_value()) << few.error().message;
  ASSERT_EQ(few->size(), 2);
  for (const auto& samples : *few) {
    EXPECT_EQ(samples.size(), 7);
    for (const double microseconds : samples) EXPECT_GT(microseconds, 0);
  }
  const auto capped = ours->time_interleaved(sessions, inputs, {.max_runs = 20, .seconds = 100});
  EXPECT_EQ(capped.value()[0].size(), 20);
}

TEST_P(EveryEngine, ErrorsNameWhatIsWrong) {
  const auto ours = engine(GetParam());
  EXPECT_THAT(error_of(ours->load(folder_ / "none.onnx")), HasSubstr("none.onnx"));
  ASSERT_TRUE(write_file(folder_ / "bad.onnx", "\x01\x02 no model").has_value());
  EXPECT_THAT(error_of(ours->load(folder_ / "bad.onnx")), HasSubstr("bad.onnx"));
  const SessionId session = ours->load(model("matmul", kMatMul)).value();
  EXPECT_THAT(error_of(ours->run(session, {})), HasSubstr("x"));
  EXPECT_THAT(error_of(ours->run(session + 5, kX)), HasSubstr("no session"));
  EXPECT_FALSE(ours->time_interleaved(std::vector{session}, std::vector<std::vector<NamedTensor>>{}, {}).has_value());
  EXPECT_TRUE(ours->unload(session).has_value());
  EXPECT_FALSE(ours->unload(session).has_value());
  EXPECT_THAT(error_of(ours->run(session, kX)), HasSubstr("no session"));
}

INSTANTIATE_TEST_SUITE_P(Engines, EveryEngine, testing::Values("ort", "onednn", "reference"),
                         [](const auto& test) { return std::string(test.param); });
// The package has an environment of its own (tests/engines).
INSTANTIATE_TEST_SUITE_P(DISABLED_Packages, EveryEngine, testing::Values("openvino"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(EngineTest, UnknownNamesAndOptionsAreRefused) {
  EXPECT_THAT(error_of(make_engine("tpu")), HasSubstr("there are: ort, openvino, onednn, reference"));
  EXPECT_THAT(error_of(make_engine("ort", {.threads = 0})), HasSubstr("0 threads"));
  EXPECT_THAT(error_of(make_engine("onednn", {.max_plans = 0})), HasSubstr("0 plans"));
  EXPECT_THAT(error_of(make_engine("ort", {.dtype = DType::BFloat16})), HasSubstr("bf16 needs the engine onednn"));
}

TEST_F(EngineTest, StreamsNeedACoreEach) {
  const int cores = available_cores();
  EXPECT_THAT(error_of(make_engine("onednn", {.streams = 0})), HasSubstr("0 streams: must be at least 1"));
  EXPECT_THAT(error_of(make_engine("reference", {.streams = 2})), HasSubstr("2 streams need the engine onednn"));
  EXPECT_THAT(error_of(make_engine("onednn", {.threads = 2, .streams = 2})), HasSubstr("leave threads at 1"));
  EXPECT_THAT(error_of(make_engine("onednn", {.streams = cores + 1})),
              HasSubstr(fmt::format("{} streams: this process may use {} core", cores + 1, cores)));
}

TEST_F(EngineTest, StreamsAreTracksOfATrace) {
  if (available_cores() < 2) GTEST_SKIP() << "a stream needs a core";
  const auto two = engine("onednn", {.streams = 2});
  const SessionId session =
      two->load(model("two", "input x: f32[8]\nc = Sign(x)\na = Sign(c)\nd = Exp(x)\nb = Exp(d)\nreturn a, b")).value();
  const Tensor x = Tensor::floats({8}, {1, -2, 3, -4, 5, -6, 7, -8});
  Trace trace("two");
  const std::vector<NamedTensor> inputs{{"x", x}};
  const auto outputs = two->run_traced(session, inputs, trace, 0);
  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  EXPECT_THAT(trace.tracks(), testing::ElementsAre("two", "two, stream 2"));
  EXPECT_EQ((*outputs)[0].data<float>()[1], -1);
}

TEST_F(EngineTest, AProviderThatIsNotThereIsRefused) {
  const std::string error = error_of(make_engine("ort", {.provider = "NoExecutionProvider"}));
  EXPECT_THAT(error, HasSubstr("has no provider 'NoExecutionProvider'; it has: "));
  EXPECT_THAT(error, HasSubstr("CPUExecutionProvider"));
  EXPECT_THAT(error_of(make_engine("reference", {.provider = "CPUExecutionProvider"})),
              HasSubstr("'reference' has no execution providers"));
}

TEST_F(EngineTest, TheDefaultProviderIsTheCpus) {
  const auto plain = engine("ort"), named = engine("ort", {.provider = "CPUExecutionProvider"});
  EXPECT_EQ(plain->provider(), "CPUExecutionProvider");
  EXPECT_EQ(named->version(), plain->version()) << "measurements hold for both";
  EXPECT_NE(named->planner(), nullptr);
  EXPECT_TRUE(engine("reference")->provider().empty());
}

TEST_F(EngineTest, AMissingPythonOrPackageIsExplained) {
  EXPECT_THAT(error_of(make_engine("ort", {.python = "/nowhere/python"})), HasSubstr("cannot start /nowhere/python"));
  const fs::path script = folder_ / "empty.sh";
  // -I -S: without installed packages.
  std::ofstream(script) << "#!/bin/sh\nexec '" << kVenvPython << "' -I -S \"$@\"\n";
  ::chmod(script.c_str(), 0755);
  const std::string error = error_of(make_engine("ort", {.python = script.string()}));
  EXPECT_THAT(error, HasSubstr("empty.sh cannot import onnxruntime"));
  EXPECT_THAT(error, HasSubstr("-m pip install onnxruntime"));
  EXPECT_THAT(error, HasSubstr("ISOMER_PYTHON"));
}

TEST_F(EngineTest, OrtTimesKernelsInTurn) {
  const auto ours = engine("ort");
  const auto run_of = [](const std::string& text, double distance) {
    const auto graph = parse_graph(text, find_op);
    EXPECT_TRUE(graph.has_value());
    KernelRun run{.graph = *graph, .weights = {.distance = distance}};
    run.intakes.assign(graph->nodes().size(), Intake::Own);
    return run;
  };
  const std::string product = "w = f32[256,256]{seed 1}\ny = MatMul(x, w)\nreturn y";
  std::vector<KernelRun> runs = {
      run_of("input x: f32[64,256]\n" + product, 4 << 20), run_of("input x: f32[4,4]\ny = Exp(x)\nreturn y", 0),
      run_of("input x: f32[2,256]\n" + product, 4 << 20), run_of("input x: f32[64,16,8,8]\nreturn x", 0)};
  runs[3].reorder_to = Layout::Blocked;
  EXPECT_GT(ours->kernels_in_turn(), 1U);
  const auto times = ours->time_kernels(runs, 0);
  ASSERT_EQ(times.size(), runs.size());
  for (const auto& time : times) ASSERT_TRUE(time.has_value()) << time.error().message;
  EXPECT_GT(times[0]->us, times[2]->us) << "64 rows and 2 rows";
  EXPECT_GT(times[1]->us, 0);
  EXPECT_GE(times[1]->runs, 5);
  EXPECT_GE(times[3]->runs, 5);
  // A kernel that ONNX Runtime refuses has an error; the others have times.
  runs[1] = run_of("input x: f64[4,4]\ny = Mish(x)\nreturn y", 0);
  const auto without = ours->time_kernels(runs, 0);
  EXPECT_FALSE(without[1].has_value());
  EXPECT_TRUE(without[0].has_value() && without[2].has_value() && without[3].has_value());
  ours->set_deadline(Deadline::after(0));
  for (const auto& late : ours->time_kernels(runs, 0)) EXPECT_THAT(error_of(late), HasSubstr("no time is left"));
}

TEST_F(EngineTest, AKilledWorkerIsReplacedWithItsSessions) {
  const auto ours = engine("ort", {.python = traced_python()});
  const SessionId first = ours->load(model("matmul", kMatMul)).value();
  const SessionId second = ours->load(model("relu", "input x: f32[2,2]\n y = Relu(x)\n return y")).value();
  ASSERT_EQ(pids().size(), 1);
  ::kill(pids()[0], SIGKILL);
  EXPECT_EQ(ours->run(second, kX).value()[0], Tensor::floats({2, 2}, {1, 2, 0, 4}));
  EXPECT_EQ(ours->run(first, kX).value()[0], Tensor::floats({2, 2}, {-5, 10, -15, 10}));
  EXPECT_EQ(pids().size(), 2) << "one restart";
}

TEST_F(EngineTest, AWorkerThatDiesAgainIsAnError) {
  // The second and the third worker die at once; the fourth lives.
  const auto ours = engine("ort", {.python = traced_python("case $(wc -l < '" + (folder_ / "pids").string() +
                                                           "') in 2|3) echo no luck >&2; kill -9 $$;; esac")});
  const SessionId session = ours->load(model("matmul", kMatMul)).value();
  ::kill(pids()[0], SIGKILL);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::string error = error_of(ours->run(session, kX));
    EXPECT_THAT(error, HasSubstr("killed by signal 9"));
    EXPECT_THAT(error, HasSubstr("no luck"));
  }
  EXPECT_TRUE(ours->run(session, kX).has_value()) << "the engine recovers";
}

TEST_F(EngineTest, AHungWorkerTimesOut) {
  const fs::path path = model("matmul", kMatMul);
  // An Error if another call than the one that hangs failed.
  const auto hang = [&](double timeout) -> Status {
    fs::remove(folder_ / "pids");
    ISOMER_TRY(const auto ours, make_engine("ort", {.python = traced_python(), .timeout_seconds = timeout}));
    ISOMER_TRY(const SessionId session, ours->load(path));
    ::kill(pids().at(0), SIGSTOP);
    EXPECT_THAT(error_of(ours->run(session, kX)), HasSubstr(fmt::format("did not answer within {:g} s", timeout)));
    return ours->run(session, kX).map([](const std::vector<Tensor>&) {});
  };
  Status recovered = hang(3);
  // The timeout also holds for the start of a worker, and a busy machine may need longer for that.
  if (!recovered && recovered.error().message.find("did not answer within 3 s") != std::string::npos)
    recovered = hang(60);
  EXPECT_TRUE(recovered.has_value()) << "the engine recovers: " << error_of(recovered);
}

TEST_F(EngineTest, ACallIsAnsweredWithinTheGracePeriodAfterTheDeadline) {
  const auto ours = engine("ort", {.grace_seconds = 300});
  const SessionId session = ours->load(model("matmul", kMatMul)).value();
  ours->set_deadline(Deadline::after(0));
  EXPECT_TRUE(ours->run(session, kX).has_value());
}

TEST_F(EngineTest, AHungWorkerIsNotWaitedForLongAfterTheDeadline) {
  const auto ours = engine("ort", {.python = traced_python(), .grace_seconds = 0.2});
  const SessionId session = ours->load(model("matmul", kMatMul)).value();
  ::kill(pids()[0], SIGSTOP);
  // Only now, so that the short grace period holds for no call that is answered: a busy machine may need longer.
  ours->set_deadline(Deadline::after(0));
  const std::string error = error_of(ours->run(session, kX));
  EXPECT_THAT(error, HasSubstr("did not answer within"));
  EXPECT_THAT(error, testing::Not(HasSubstr("within 600 s")));
}

TEST_F(EngineTest, AWorkerThatHangsAtItsStartIsNotWaitedForLongEither) {
  const auto hung = make_engine(
      "ort", {.python = traced_python("exec sleep 1000"), .grace_seconds = 0.2, .deadline = Deadline::after(0)});
  EXPECT_THAT(error_of(hung), HasSubstr("did not answer within 0.2"));
}

TEST_F(EngineTest, FilesOfTheWorkerGoAwayWithIt) {
  const char* const before = std::getenv("TMPDIR");
  const std::string restore = before == nullptr ? "" : before;
  ::setenv("TMPDIR", folder_.c_str(), 1);
  {
    const auto ours = engine("ort");
    const SessionId session = ours->load(model("matmul", kMatMul)).value();
    EXPECT_TRUE(ours->run(session, kX).has_value());
  }
  restore.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", restore.c_str(), 1);
  std::vector<fs::path> left;
  for (const auto& entry : fs::directory_iterator(folder_)) left.push_back(entry.path().filename());
  EXPECT_THAT(left, testing::ElementsAre("matmul.onnx")) << "no session files (.ses) of ONNX Runtime";
}

TEST_F(EngineTest, NoWorkerOutlivesItsEngine) {
  { const auto ours = engine("ort", {.python = traced_python()}); }
  ASSERT_EQ(pids().size(), 1);
  EXPECT_EQ(::kill(pids()[0], 0), -1);
}

TEST_F(EngineTest, OptimizationCanBeSwitchedOff) {
  const fs::path path = model("matmul", kMatMul);
  const auto plain = engine("ort", {.threads = 2, .optimize = false});
  EXPECT_EQ(plain->threads(), 2);
  EXPECT_EQ(plain->run(plain->load(path).value(), kX).value()[0], Tensor::floats({2, 2}, {-5, 10, -15, 10}));
}

TEST_F(EngineTest, RandomInputsRunOnEveryEngineAlike) {
  const std::string text = R"(
    input token: i64[S]
    table = f32[50,8]{seed 1}
    e = Gather(table, token)
    w = f32[8,4]{seed 2}
    y = MatMul(e, w)
    return y)";
  auto graph = parse_graph(text, find_op);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  ShapeOptions shapes;
  ASSERT_TRUE(add_shape_option("S=6", shapes).has_value());
  const auto inputs = random_inputs(make_model(std::move(*graph), "m", 17), shapes, 5).value();
  const fs::path path = model("tokens", text);
  std::vector<Tensor> results;
  for (const std::string name : {"ort", "onednn", "reference"}) {
    const auto ours = engine(name);
    results.push_back(ours->run(ours->load(path).value(), inputs).value()[0]);
    EXPECT_EQ(results.back().dims(), (std::vector<int64_t>{6, 4}));
  }
  for (size_t i = 0; i < 24; ++i) EXPECT_NEAR(results[0].data<float>()[i], results[1].data<float>()[i], 1e-5);
}

}  // namespace
}  // namespace isomer
