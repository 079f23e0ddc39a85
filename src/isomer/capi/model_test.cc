// Tests the C interface of models: runs on every engine in this process, and every mistake that a caller can make.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/capi/isomer.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/testing.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using testing::HasSubstr;

constexpr const char* kMatMul =
    "input x: f32[N,2]\n w = f32[2,3] {1, 2, 3, 4, 5, 6}\n y = MatMul(x, w)\n z = Relu(y)\n"
    " return y, z";

class CModel : public testing::Test {
 protected:
  void TearDown() override {
    for (isomer_model* model : models_) isomer_release(model);
  }

  std::string write(const std::string& text) {
    auto graph = parse_graph(text, find_op);
    EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message);
    const auto path = folder_.path() / fmt::format("model{}.onnx", files_++);
    EXPECT_TRUE(export_model(make_model(std::move(*graph), "m", 17), path).has_value());
    return path.string();
  }

  isomer_model* load(const std::string& text, const char* engine = nullptr) {
    isomer_model* model = nullptr;
    EXPECT_EQ(isomer_load(write(text).c_str(), engine, nullptr, &model, &error_), ISOMER_OK) << error_.message;
    models_.push_back(model);
    return model;
  }

  template <class T>
  static isomer_input input(int32_t dtype, std::initializer_list<int64_t> extents, const std::vector<T>& elements) {
    isomer_input in{};
    in.type.dtype = dtype;
    in.type.rank = static_cast<int32_t>(extents.size());
    std::copy(extents.begin(), extents.end(), in.type.extents);
    in.data = elements.data();
    in.bytes = elements.size() * sizeof(T);
    return in;
  }

  template <class T, size_t Size>
  static isomer_output room(std::array<T, Size>& elements) {
    return {.type = {}, .data = elements.data(), .capacity = sizeof(elements), .bytes = 0};
  }

  /// Runs on one input; the run must fail before it starts. Returns the status.
  int run_on(isomer_model* model, const isomer_input& in) {
    std::array<float, 6> y{}, z{};
    std::array<isomer_output, 2> outputs = {room(y), room(z)};
    return isomer_run(model, &in, 1, outputs.data(), 2, &error_);
  }

  isomer_error error_ = {};
  TempDir folder_ = TempDir::make().value();
  std::vector<isomer_model*> models_;
  int files_ = 0;
};

class CEngine : public CModel, public testing::WithParamInterface<const char*> {};

TEST_P(CEngine, Runs) {
  isomer_model* model = load(kMatMul, GetParam());
  for (int64_t rows = 0; rows < 3; ++rows) {
    std::vector<float> x;
    for (int64_t i = 0; i < rows; ++i) x.insert(x.end(), {1, static_cast<float>(-i)});
    const isomer_input in = input(ISOMER_FLOAT, {rows, 2}, x);
    std::array<float, 6> y{}, z{};
    std::array<isomer_output, 2> outputs = {room(y), room(z)};
    ASSERT_EQ(isomer_run(model, &in, 1, outputs.data(), 2, &error_), ISOMER_OK) << error_.message;
    EXPECT_STREQ(error_.message, "");
    for (const isomer_output& output : outputs) {
      EXPECT_EQ(output.type.dtype, ISOMER_FLOAT);
      ASSERT_EQ(output.type.rank, 2);
      EXPECT_EQ(output.type.extents[0], rows);
      EXPECT_EQ(output.type.extents[1], 3);
      EXPECT_EQ(output.bytes, static_cast<size_t>(rows) * 12);
    }
    const std::array<float, 6> full_y = {1, 2, 3, -3, -3, -3}, full_z = {1, 2, 3, 0, 0, 0};
    for (size_t i = 0; i < 6; ++i) {
      const bool written = i < 3 * static_cast<size_t>(rows);
      EXPECT_EQ(y[i], written ? full_y[i] : 0) << rows << " rows, element " << i;
      EXPECT_EQ(z[i], written ? full_z[i] : 0);
    }
  }
}

TEST_P(CEngine, TellsInputsAndOutputs) {
  const isomer_model* model = load(kMatMul, GetParam());
  size_t count = 0;
  ASSERT_EQ(isomer_input_count(model, &count, nullptr), ISOMER_OK);
  EXPECT_EQ(count, 1);
  ASSERT_EQ(isomer_output_count(model, &count, nullptr), ISOMER_OK);
  EXPECT_EQ(count, 2);
  isomer_value value;
  ASSERT_EQ(isomer_get_input(model, 0, &value, nullptr), ISOMER_OK);
  EXPECT_STREQ(value.name, "x");
  EXPECT_EQ(value.type.dtype, ISOMER_FLOAT);
  ASSERT_EQ(value.type.rank, 2);
  EXPECT_EQ(value.type.extents[0], -1);
  EXPECT_EQ(value.type.extents[1], 2);
  ASSERT_EQ(isomer_get_output(model, 1, &value, nullptr), ISOMER_OK);
  EXPECT_STREQ(value.name, "z");
}

TEST_P(CEngine, ExtentsThatNoOperatorTakesAreAnError) {
  isomer_model* model = load("input x: f32[N]\n input y: f32[M]\n z = Add(x, y)\n return z", GetParam());
  const std::vector<float> x = {1, 2, 3}, y = {1, 2};
  const std::array<isomer_input, 2> inputs = {input(ISOMER_FLOAT, {3}, x), input(ISOMER_FLOAT, {2}, y)};
  std::array<float, 3> z{};
  isomer_output output = room(z);
  EXPECT_EQ(isomer_run(model, inputs.data(), 2, &output, 1, &error_), ISOMER_FAILED);
  EXPECT_THAT(error_.message, HasSubstr("Add"));
}

TEST_P(CEngine, AnInputWithADefaultMayBeLeftOut) {
  auto graph = parse_graph("input x: f32[2]\n input w: f32[2]\n y = Mul(x, w)\n return y", find_op);
  const Model scaled = test::with_default(make_model(std::move(*graph), "m", 17), 1, Tensor::floats({2}, {3, 5}));
  const auto path = folder_.path() / "default.onnx";
  ASSERT_TRUE(export_model(scaled, path).has_value());
  isomer_model* model = nullptr;
  ASSERT_EQ(isomer_load(path.c_str(), GetParam(), nullptr, &model, &error_), ISOMER_OK) << error_.message;
  models_.push_back(model);
  isomer_value value;
  ASSERT_EQ(isomer_get_input(model, 0, &value, nullptr), ISOMER_OK);
  EXPECT_EQ(value.has_default, 0);
  ASSERT_EQ(isomer_get_input(model, 1, &value, nullptr), ISOMER_OK);
  EXPECT_EQ(value.has_default, 1);
  const std::vector<float> x = {1, 2}, w = {1, 1};
  std::array<isomer_input, 2> inputs = {input(ISOMER_FLOAT, {2}, x), isomer_input{}};
  std::array<float, 2> y{};
  isomer_output output = room(y);
  ASSERT_EQ(isomer_run(model, inputs.data(), 2, &output, 1, &error_), ISOMER_OK) << error_.message;
  EXPECT_EQ(y, (std::array<float, 2>{3, 10}));
  inputs[1] = input(ISOMER_FLOAT, {2}, w);
  ASSERT_EQ(isomer_run(model, inputs.data(), 2, &output, 1, &error_), ISOMER_OK) << error_.message;
  EXPECT_EQ(y, (std::array<float, 2>{1, 2}));
  inputs[0] = isomer_input{};
  EXPECT_EQ(isomer_run(model, inputs.data(), 2, &output, 1, &error_), ISOMER_BAD_ARGUMENT) << "x has no default";
}

TEST_P(CEngine, AnIndexFromOutsideIsAnError) {
  isomer_model* model = load("input t: f32[4]\n input i: i64[1]\n y = Gather(t, i) {axis=0}\n return y", GetParam());
  const std::vector<float> table = {1, 2, 3, 4};
  for (const int64_t index : {int64_t{4}, int64_t{-5}, std::numeric_limits<int64_t>::min()}) {
    const std::vector<int64_t> at = {index};
    const std::array<isomer_input, 2> inputs = {input(ISOMER_FLOAT, {4}, table), input(ISOMER_INT64, {1}, at)};
    std::array<float, 1> y{};
    isomer_output output = room(y);
    EXPECT_EQ(isomer_run(model, inputs.data(), 2, &output, 1, &error_), ISOMER_FAILED) << index;
    EXPECT_THAT(error_.message, HasSubstr("Gather"));
  }
}

TEST_P(CEngine, ThreadsRunOneModelAtATime) {
  isomer_model* model = load(kMatMul, GetParam());
  std::vector<std::thread> threads;
  std::array<int, 4> wrong{};
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        // There are two sets of extents, so that one thread plans while another runs.
        const int64_t rows = 1 + (i + static_cast<int64_t>(t)) % 2;
        const std::vector<float> x(static_cast<size_t>(2 * rows), static_cast<float>(i));
        const isomer_input in = input(ISOMER_FLOAT, {rows, 2}, x);
        std::array<float, 6> y{}, z{};
        std::array<isomer_output, 2> outputs = {room(y), room(z)};
        const int status = isomer_run(model, &in, 1, outputs.data(), 2, nullptr);
        if (status != ISOMER_OK || y[0] != 5 * x[0] || outputs[0].type.extents[0] != rows) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
}

INSTANTIATE_TEST_SUITE_P(Engines, CEngine, testing::Values("onednn", "reference"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(CModel, RunsOnOnnxRuntime) {
  isomer_model* model = load(kMatMul, "ort");
  const std::vector<float> x = {1, -1};
  const isomer_input in = input(ISOMER_FLOAT, {1, 2}, x);
  std::array<float, 6> y{}, z{};
  std::array<isomer_output, 2> outputs = {room(y), room(z)};
  ASSERT_EQ(isomer_run(model, &in, 1, outputs.data(), 2, &error_), ISOMER_OK) << error_.message;
  EXPECT_EQ(y[0], -3);
  EXPECT_EQ(z[0], 0);
}

TEST_F(CModel, TooSmallABufferTellsWhatIsNeeded) {
  isomer_model* model = load(kMatMul);
  const std::vector<float> x = {1, 1};
  const isomer_input in = input(ISOMER_FLOAT, {1, 2}, x);
  std::array<float, 2> y = {7, 7};
  std::array<float, 3> z{};
  std::array<isomer_output, 2> outputs = {room(y), room(z)};
  EXPECT_EQ(isomer_run(model, &in, 1, outputs.data(), 2, &error_), ISOMER_TOO_SMALL);
  EXPECT_STREQ(error_.message, "output 'y' takes 12 bytes, its buffer has 8");
  EXPECT_EQ(outputs[0].bytes, 12);
  EXPECT_EQ(outputs[0].type.rank, 2);
  EXPECT_THAT(y, testing::Each(7)) << "what does not fit is not begun";
  EXPECT_THAT(z, testing::ElementsAre(5, 7, 9)) << "what fits is there";
  outputs = {};
  EXPECT_EQ(isomer_run(model, &in, 1, outputs.data(), 2, nullptr), ISOMER_TOO_SMALL);
  EXPECT_EQ(outputs[1].bytes, 12);
}

TEST_F(CModel, NullsAreRefused) {
  isomer_model* model = load(kMatMul);
  size_t count = 0;
  isomer_value value;
  isomer_input in{};
  isomer_output out{};
  isomer_model* loaded = nullptr;
  const std::string path = write(kMatMul);
  const auto refused = [&](int status, const char* what) {
    EXPECT_EQ(status, ISOMER_BAD_ARGUMENT) << what;
    EXPECT_STREQ(error_.message, what);
  };
  refused(isomer_load(nullptr, nullptr, nullptr, &loaded, &error_), "path is NULL");
  refused(isomer_load(path.c_str(), nullptr, nullptr, nullptr, &error_), "model is NULL");
  refused(isomer_input_count(nullptr, &count, &error_), "model is NULL");
  refused(isomer_input_count(model, nullptr, &error_), "count is NULL");
  refused(isomer_output_count(nullptr, &count, &error_), "model is NULL");
  refused(isomer_output_count(model, nullptr, &error_), "count is NULL");
  refused(isomer_get_input(nullptr, 0, &value, &error_), "model is NULL");
  refused(isomer_get_input(model, 0, nullptr, &error_), "value is NULL");
  refused(isomer_get_output(nullptr, 0, &value, &error_), "model is NULL");
  refused(isomer_get_output(model, 0, nullptr, &error_), "value is NULL");
  refused(isomer_run(nullptr, &in, 1, &out, 2, &error_), "model is NULL");
  refused(isomer_run(model, nullptr, 1, &out, 2, &error_), "inputs is NULL");
  refused(isomer_type_bytes(nullptr, &count, &error_), "type is NULL");
  refused(isomer_type_bytes(&in.type, nullptr, &error_), "bytes is NULL");
  const std::vector<float> x = {1, 1};
  in = input(ISOMER_FLOAT, {1, 2}, x);
  refused(isomer_run(model, &in, 1, nullptr, 2, &error_), "outputs is NULL");
  isomer_release(nullptr);
  EXPECT_EQ(isomer_load(nullptr, nullptr, nullptr, nullptr, nullptr), ISOMER_BAD_ARGUMENT)
      << "nowhere to write the error";
}

TEST_F(CModel, WrongCountsAndIndicesAreRefused) {
  isomer_model* model = load(kMatMul);
  isomer_value value;
  EXPECT_EQ(isomer_get_input(model, 1, &value, &error_), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(error_.message, "index 1 is out of range: there are 1");
  EXPECT_EQ(isomer_get_output(model, SIZE_MAX, &value, &error_), ISOMER_BAD_ARGUMENT);
  const std::vector<float> x = {1, 1};
  const std::array<isomer_input, 2> inputs = {input(ISOMER_FLOAT, {1, 2}, x), input(ISOMER_FLOAT, {1, 2}, x)};
  std::array<isomer_output, 3> outputs{};
  EXPECT_EQ(isomer_run(model, inputs.data(), 0, outputs.data(), 2, &error_), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(error_.message, "0 inputs are given, but the model has 1");
  EXPECT_EQ(isomer_run(model, inputs.data(), 2, outputs.data(), 2, &error_), ISOMER_BAD_ARGUMENT);
  EXPECT_EQ(isomer_run(model, inputs.data(), 1, outputs.data(), 3, &error_), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(error_.message, "3 outputs are given, but the model has 2");
  outputs[1].capacity = 8;
  EXPECT_EQ(isomer_run(model, inputs.data(), 1, outputs.data(), 2, &error_), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(error_.message, "output 'z': data is NULL, capacity 8");
}

TEST_F(CModel, InputsThatDoNotFitAreRefused) {
  isomer_model* model = load(kMatMul);
  const std::vector<float> x = {1, 1, 1, 1, 1, 1};
  const auto refused = [&](const isomer_input& in, const char* what) {
    EXPECT_EQ(run_on(model, in), ISOMER_BAD_ARGUMENT) << what;
    EXPECT_THAT(error_.message, HasSubstr("'x'"));
    EXPECT_THAT(error_.message, HasSubstr(what));
  };
  refused(input(ISOMER_FLOAT, {2, 3}, x), "[2,3] does not fit");
  refused(input(ISOMER_FLOAT, {6}, x), "[6] does not fit");
  refused(input(ISOMER_INT32, {3, 2}, x), "i32[3,2] does not fit");
  refused(input(0, {3, 2}, x), "0 is not an element type");
  refused(input(-1, {3, 2}, x), "-1 is not an element type");
  refused(input(99, {3, 2}, x), "99 is not an element type");
  refused(input(255, {3, 2}, x), "255 is not an element type");
  refused(input(8, {3, 2}, x), "does not support elements of type string");
  refused(input(ISOMER_FLOAT, {2, 2}, x), "24 bytes are given, but the type needs 16");
  refused(input(ISOMER_FLOAT, {-1, 2}, x), "extent 0 is -1");
  refused(input(ISOMER_FLOAT, {int64_t{1} << 40, int64_t{1} << 40}, x), "too large");
  isomer_input in = input(ISOMER_FLOAT, {3, 2}, x);
  in.data = nullptr;
  refused(in, "data is NULL");
  in.data = reinterpret_cast<const char*>(x.data()) + 2;
  refused(in, "not aligned to 4 bytes");
  in = input(ISOMER_FLOAT, {3, 2}, x);
  for (const int32_t rank : {-1, ISOMER_MAX_RANK + 1, std::numeric_limits<int32_t>::max()}) {
    in.type.rank = rank;
    refused(in, "must be 0 to 16");
  }
}

TEST_F(CModel, ASymbolHasOneValue) {
  isomer_model* model = load("input x: f32[N]\n input y: f32[N]\n z = Add(x, y)\n return z");
  const std::vector<float> x = {1, 2}, y = {1, 2, 3};
  const std::array<isomer_input, 2> inputs = {input(ISOMER_FLOAT, {2}, x), input(ISOMER_FLOAT, {3}, y)};
  isomer_output output{};
  EXPECT_EQ(isomer_run(model, inputs.data(), 2, &output, 1, &error_), ISOMER_BAD_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("N=3"));
}

TEST_F(CModel, BoolsAreZeroOrOne) {
  isomer_model* model = load("input x: bool[2]\n y = Not(x)\n return y");
  std::vector<uint8_t> x = {1, 0};
  std::array<uint8_t, 2> y{};
  isomer_output output = room(y);
  isomer_input in = input(ISOMER_BOOL, {2}, x);
  ASSERT_EQ(isomer_run(model, &in, 1, &output, 1, &error_), ISOMER_OK) << error_.message;
  EXPECT_THAT(y, testing::ElementsAre(0, 1));
  x[1] = 2;
  EXPECT_EQ(isomer_run(model, &in, 1, &output, 1, &error_), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(error_.message, "input 'x': a bool is neither 0 nor 1");
}

TEST_F(CModel, WhatCannotBeLoadedIsExplained) {
  isomer_model* model = load(kMatMul);
  const auto status_of = [&](const std::string& path, const char* engine, const char* options = nullptr) {
    isomer_model* loaded = model;
    const int status = isomer_load(path.c_str(), engine, options, &loaded, &error_);
    EXPECT_EQ(loaded, nullptr);
    return status;
  };
  const std::string path = write(kMatMul);
  EXPECT_EQ(status_of("/nowhere/model.onnx", nullptr), ISOMER_FAILED);
  EXPECT_THAT(error_.message, HasSubstr("/nowhere/model.onnx"));
  EXPECT_EQ(status_of("/nowhere/\x1b[2J.onnx", nullptr), ISOMER_FAILED);
  EXPECT_THAT(error_.message, HasSubstr("/nowhere/\\x1b[2J.onnx"));
  EXPECT_EQ(status_of(folder_.path().string(), nullptr), ISOMER_FAILED);
  EXPECT_EQ(status_of("", nullptr), ISOMER_FAILED);
  const std::string bad = (folder_.path() / "bad.onnx").string();
  ASSERT_TRUE(write_file(bad, "\x01\x02 no model").has_value());
  EXPECT_EQ(status_of(bad, nullptr), ISOMER_FAILED);
  EXPECT_THAT(error_.message, HasSubstr("bad.onnx"));
  EXPECT_EQ(status_of(path, "tpu"), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(error_.message, "unknown engine 'tpu'; there are: ort, openvino, onednn, reference");
}

TEST_F(CModel, TakesTheOptionsOfItsEngine) {
  const std::string path = write(kMatMul);
  const auto status_of = [&](const char* engine, const std::string& options) {
    isomer_model* loaded = nullptr;
    const int status = isomer_load(path.c_str(), engine, options.c_str(), &loaded, &error_);
    models_.push_back(loaded);
    return status;
  };
  EXPECT_EQ(status_of(nullptr, "{\"threads\": 2, \"dtype\": \"f32\"}"), ISOMER_OK) << error_.message;
  EXPECT_EQ(status_of(nullptr, "{}"), ISOMER_OK) << error_.message;
  for (const int threads : {0, -1, 1025})
    EXPECT_EQ(status_of(nullptr, fmt::format("{{\"threads\": {}}}", threads)), ISOMER_BAD_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("threads: "));
  EXPECT_EQ(status_of(nullptr, "threads=2"), ISOMER_BAD_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("not a JSON object"));
  EXPECT_EQ(status_of(nullptr, "{\"alpha\": 1.05}"), ISOMER_BAD_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("no option 'alpha'; there are: threads, streams, provider, dtype, python"));
  EXPECT_EQ(status_of("reference", "{\"provider\": \"CUDAExecutionProvider\"}"), ISOMER_BAD_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("provider"));
}

TEST_F(CModel, LongErrorsAreCutBetweenCharacters) {
  std::string path = "/nowhere/";
  for (int i = 0; i < 1000; ++i) path += "\xC3\xBC";
  isomer_model* model = nullptr;
  EXPECT_EQ(isomer_load(path.c_str(), nullptr, nullptr, &model, &error_), ISOMER_FAILED);
  const std::string message = error_.message;
  EXPECT_GE(message.size(), sizeof(error_.message) - 3);
  EXPECT_EQ(message.back(), '\xBC') << "no half a character";
}

TEST_F(CModel, TextsDoNotCross) {
  isomer_model* model = load("input x: i64[1]\n s = string[1] {\"a\"}\n y = Gather(s, x) {axis=0}\n return y");
  const std::vector<int64_t> x = {0};
  const isomer_input in = input(ISOMER_INT64, {1}, x);
  isomer_output output{};
  EXPECT_EQ(isomer_run(model, &in, 1, &output, 1, &error_), ISOMER_FAILED);
  EXPECT_THAT(error_.message, HasSubstr("does not support elements of type string"));
}

TEST(CTypes, BytesOfTypes) {
  size_t bytes = 99;
  isomer_type type{};
  type.dtype = ISOMER_HALF;
  EXPECT_EQ(isomer_type_bytes(&type, &bytes, nullptr), ISOMER_OK);
  EXPECT_EQ(bytes, 2) << "a scalar";
  type = {.dtype = 22, .rank = 1, .extents = {5}};  // int4
  EXPECT_EQ(isomer_type_bytes(&type, &bytes, nullptr), ISOMER_OK);
  EXPECT_EQ(bytes, 3);
  type = {.dtype = ISOMER_DOUBLE, .rank = 3, .extents = {INT64_MAX, INT64_MAX, 0}};
  EXPECT_EQ(isomer_type_bytes(&type, &bytes, nullptr), ISOMER_OK);
  EXPECT_EQ(bytes, 0);
  type.extents[2] = 1;
  isomer_error error;
  EXPECT_EQ(isomer_type_bytes(&type, &bytes, &error), ISOMER_BAD_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr("too large"));
}

TEST(CVersion, IsThatOfTheLibrary) { EXPECT_THAT(isomer_version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+")); }

}  // namespace
}  // namespace isomer
