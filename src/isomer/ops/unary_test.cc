#include <cmath>

#include "isomer/ops/small_float.h"
#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

Attrs cast_to(DType dtype) { return {{"to", static_cast<int64_t>(dtype)}}; }

TEST(Unary, KeepsTheType) {
  for (const char* name :
       {"Abs", "Neg", "Sign", "Reciprocal", "Sqrt", "Exp",  "Log",  "Erf",  "Ceil",  "Floor", "Round",
        "Sin", "Cos", "Tan",  "Asin",       "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh"}) {
    EXPECT_EQ(infer(name, {}, {f32({kN, 3})}), "f32[N,3]") << name;
    EXPECT_TRUE(refused(name, {}, {{DType::String, {3}}})) << name;
  }
}

TEST(Unary, Values) {
  const Tensor x = Tensor::floats({4}, {-1.5, -0.5, 0.5, 2.5});
  EXPECT_EQ(run_to<float>("Round", {}, {x}), (std::vector<float>{-2, -0.0F, 0, 2}));
  EXPECT_EQ(run_to<float>("Sign", {}, {x}), (std::vector<float>{-1, -1, 1, 1}));
  EXPECT_EQ(run_to<float>("Abs", {}, {x}), (std::vector<float>{1.5, 0.5, 0.5, 2.5}));
  EXPECT_EQ(run_to<int64_t>("Neg", {}, {Tensor::ints({2}, {3, INT64_MIN})}), (Ints{-3, INT64_MIN}));
  EXPECT_FLOAT_EQ(run_to<float>("Atanh", {}, {x})[2], std::atanh(0.5F));
}

TEST(Cast, Converts) {
  EXPECT_EQ(infer("Cast", cast_to(DType::Int8), {f32({kN})}), "i8[N]");
  EXPECT_TRUE(refused("Cast", {{"to", int64_t{77}}}, {f32({kN})}));
  const Tensor x = Tensor::floats({4}, {-1.9F, 0, NAN, 300});
  EXPECT_EQ(run_to<uint8_t>("Cast", cast_to(DType::Bool), {x}), (std::vector<uint8_t>{1, 0, 1, 1}));
  EXPECT_EQ(run_to<int64_t>("Cast", cast_to(DType::Int64), {x}), (Ints{-1, 0, 0, 300}));
  EXPECT_EQ(run_to<int8_t>("Cast", cast_to(DType::Int8), {Tensor::ints({1}, {200})}), std::vector<int8_t>{-56});
  EXPECT_EQ(run_to<float>("Cast", cast_to(DType::Float), {Tensor::strings({2}, {"1e-5", "-INF"})}),
            (std::vector<float>{1e-5F, -INFINITY}));
  EXPECT_EQ(run("Cast", cast_to(DType::String), {x})->front().string_elements(),
            (std::vector<std::string>{"-1.9", "0", "NaN", "300"}));
  EXPECT_FALSE(run("Cast", cast_to(DType::Float), {Tensor::strings({1}, {"word"})}).has_value());
}

TEST(Cast, ReadsIntegersOf64Bits) {
  const auto read = [](DType to, const std::string& text) {
    return run("Cast", cast_to(to), {Tensor::strings({1}, {text})});
  };
  EXPECT_EQ(read(DType::Int64, "9223372036854775807")->front(), Tensor::ints({1}, {INT64_MAX}));
  EXPECT_EQ(read(DType::Int64, "+9007199254740993")->front(), Tensor::ints({1}, {9007199254740993}));
  EXPECT_EQ(read(DType::Int64, "1e3")->front(), Tensor::ints({1}, {1000}));
  EXPECT_EQ(read(DType::Uint64, "18446744073709551615")->front().data<uint64_t>()[0], UINT64_MAX);
  EXPECT_EQ(run_to<int64_t>("Cast", cast_to(DType::Int64), {Tensor::floats({2}, {3.4e38F, -3.4e38F})}),
            (Ints{INT64_MAX, INT64_MIN}));
}

TEST(Cast, PacksSmallIntegers) {
  const auto packed = run("Cast", cast_to(DType::Int4), {Tensor::floats({3}, {-1, 3, 9})});
  ASSERT_TRUE(packed.has_value());
  EXPECT_EQ(run_to<int64_t>("Cast", cast_to(DType::Int64), {packed->front()}), (Ints{-1, 3, -7}));
}

TEST(CastLike, BecomesCast) {
  EXPECT_EQ(normalized({.op_type = "CastLike", .opset = 15, .operands = {f32({2}), i64({})}}),
            "Cast {round_mode=\"up\", saturate=1, to=7}");
}

TEST(BitCast, KeepsTheBits) {
  EXPECT_TRUE(refused("BitCast", cast_to(DType::Int64), {f32({2})}));
  EXPECT_EQ(run_to<int32_t>("BitCast", cast_to(DType::Int32), {Tensor::floats({1}, {1})}),
            std::vector<int32_t>{0x3f800000});
}

TEST(SmallFloat, EveryCodeReadsBack) {
  for (const DType dtype : {DType::Half, DType::BFloat16, DType::Float8E4M3FN, DType::Float8E4M3FNUZ, DType::Float8E5M2,
                            DType::Float8E5M2FNUZ, DType::Float4E2M1, DType::Float8E8M0}) {
    for (uint32_t code = 0; code < uint32_t{1} << dtype_bits(dtype); ++code) {
      const double value = *small_float_value(dtype, code);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(*small_float_value(dtype, *small_float_code(dtype, value, {}))));
      } else if (!std::isinf(value)) {
        EXPECT_EQ(*small_float_code(dtype, value, {}), code) << dtype_name(dtype) << " " << value;
      }
    }
  }
}

TEST(SmallFloat, RoundsAndSaturates) {
  EXPECT_EQ(*small_float_code(DType::Float8E4M3FN, 1e6, {}), 0x7eU);
  EXPECT_EQ(*small_float_code(DType::Float8E4M3FN, 1e6, {.saturate = false}), 0x7fU);
  EXPECT_EQ(*small_float_code(DType::Half, 65519, {}), 0x7bffU);
  EXPECT_EQ(*small_float_code(DType::Half, 65520, {}), 0x7c00U);
  EXPECT_EQ(*small_float_code(DType::Float8E8M0, 1.1, {}), 128U);
}

}  // namespace
}  // namespace isomer::testing
