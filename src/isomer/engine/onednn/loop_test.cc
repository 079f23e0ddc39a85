#include "isomer/engine/onednn/loop.h"

#include <gtest/gtest.h>

#include <cmath>

#include "isomer/base/aligned_bytes.h"
#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/loop_chunk.h"
#include "isomer/engine/onednn/own_kernel_testing.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

using Extents = std::vector<int64_t>;

/// An operand of a loop, with the number of its elements.
struct Given {
  LoopOperand how;
  std::vector<int64_t> at;  ///< of each element of the loop
  Floats numbers;
  std::vector<uint8_t> flags;
  const std::byte* data() const {
    return how.conditions ? reinterpret_cast<const std::byte*>(flags.data())
                          : reinterpret_cast<const std::byte*>(numbers.data());
  }
};

/// Draws an operand that is broadcast along some axes, with its axes in any order in memory.
Given draw_operand(Rng& rng, const Extents& extents, bool whole, bool conditions) {
  Given out;
  Extents strides(extents.size(), 0);
  int64_t size = 1;
  std::vector<size_t> axes;
  for (size_t axis = extents.size(); axis-- > 0;)
    if (whole || rng.below(2) == 0) axes.push_back(axis);
  if (!whole && rng.below(4) == 0) std::ranges::reverse(axes);
  for (const size_t axis : axes) {
    strides[axis] = size;
    size *= extents[axis];
  }
  out.how = loop_operand(extents, strides);
  out.how.conditions = conditions;
  const int64_t count = element_count(extents);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at = 0;
    for (size_t axis = extents.size(); axis-- > 0;) {
      at += rest % extents[axis] * strides[axis];
      rest /= extents[axis];
    }
    out.at.push_back(at);
  }
  const float special[] = {NAN, kInfinity, -kInfinity, 0.0F, -0.0F, 1.0F, 100.0F, -100.0F};
  for (int64_t i = 0; i < size; ++i) {
    out.flags.push_back(rng.below(2) == 0 ? 0 : 1);
    out.numbers.push_back(rng.below(16) == 0 ? special[rng.below(std::size(special))]
                                             : static_cast<float>(4 * rng.uniform() - 2));
  }
  return out;
}

/// A register's element: a number or a condition.
struct Element {
  float number = 0;
  bool condition = false;
};

Element performed(const LoopStep& step, const Element& a, const Element& b, const Element& c) {
  const float x = a.number, y = b.number;
  switch (step.op) {
    case LoopOp::Copy:
      return {.number = x};
    case LoopOp::Neg:
      return {.number = -x};
    case LoopOp::Abs:
      return {.number = std::abs(x)};
    case LoopOp::Sqrt:
      return {.number = std::sqrt(x)};
    case LoopOp::Exp:
      return {.number = std::exp(x)};
    case LoopOp::Reciprocal:
      return {.number = 1 / x};
    case LoopOp::Sigmoid:
      return {.number = 1 / (1 + std::exp(-x))};
    case LoopOp::Tanh:
      return {.number = std::tanh(x)};
    case LoopOp::Erf:
      return {.number = std::erf(x)};
    case LoopOp::Square:
      return {.number = x * x};
    case LoopOp::Cube:
      return {.number = x * x * x};
    case LoopOp::Linear:
      return {.number = step.alpha * x + step.beta};
    case LoopOp::Clip:
      return {.number = std::isnan(x) ? x : std::min(std::max(x, step.alpha), step.beta)};
    case LoopOp::LeakyRelu:
      return {.number = x < 0 ? step.alpha * x : x};
    case LoopOp::Add:
      return {.number = x + y};
    case LoopOp::Sub:
      return {.number = x - y};
    case LoopOp::Mul:
      return {.number = x * y};
    case LoopOp::Div:
      return {.number = x / y};
    case LoopOp::Max:
      return {.number = std::isnan(x) || std::isnan(y) ? NAN : x > y ? x : y};
    case LoopOp::Min:
      return {.number = std::isnan(x) || std::isnan(y) ? NAN : x < y ? x : y};
    case LoopOp::Equal:
      return {.condition = x == y};
    case LoopOp::Greater:
      return {.condition = x > y};
    case LoopOp::GreaterOrEqual:
      return {.condition = x >= y};
    case LoopOp::IsNotZero:
      return {.condition = x != 0};
    case LoopOp::Not:
      return {.condition = !a.condition};
    case LoopOp::And:
      return {.condition = a.condition && b.condition};
    case LoopOp::Or:
      return {.condition = a.condition || b.condition};
    case LoopOp::Xor:
      return {.condition = a.condition != b.condition};
    case LoopOp::Select:
      return {.number = a.condition ? b.number : c.number};
    case LoopOp::ToNumber:
      return {.number = a.condition ? 1.0F : 0.0F};
  }
  return {};
}

/// What an operation reads and makes: the kinds of its arguments, n for numbers and c for conditions, and of its
/// result.
struct Signature {
  LoopOp op;
  char to;
  const char* from;
};
constexpr Signature kSignatures[] = {
    {LoopOp::Copy, 'n', "n"},
    {LoopOp::Neg, 'n', "n"},
    {LoopOp::Abs, 'n', "n"},
    {LoopOp::Sqrt, 'n', "n"},
    {LoopOp::Exp, 'n', "n"},
    {LoopOp::Reciprocal, 'n', "n"},
    {LoopOp::Sigmoid, 'n', "n"},
    {LoopOp::Tanh, 'n', "n"},
    {LoopOp::Erf, 'n', "n"},
    {LoopOp::Square, 'n', "n"},
    {LoopOp::Cube, 'n', "n"},
    {LoopOp::Linear, 'n', "n"},
    {LoopOp::Clip, 'n', "n"},
    {LoopOp::LeakyRelu, 'n', "n"},
    {LoopOp::Add, 'n', "nn"},
    {LoopOp::Sub, 'n', "nn"},
    {LoopOp::Mul, 'n', "nn"},
    {LoopOp::Div, 'n', "nn"},
    {LoopOp::Max, 'n', "nn"},
    {LoopOp::Min, 'n', "nn"},
    {LoopOp::Equal, 'c', "nn"},
    {LoopOp::Greater, 'c', "nn"},
    {LoopOp::GreaterOrEqual, 'c', "nn"},
    {LoopOp::IsNotZero, 'c', "n"},
    {LoopOp::Not, 'c', "c"},
    {LoopOp::And, 'c', "cc"},
    {LoopOp::Or, 'c', "cc"},
    {LoopOp::Xor, 'c', "cc"},
    {LoopOp::Select, 'n', "cnn"},
    {LoopOp::ToNumber, 'n', "c"},
};

/// A random loop with its operands.
struct Drawn {
  Extents extents;
  std::vector<Given> operands;
  Loop loop;

  Drawn(Rng& rng, size_t steps, char result) {
    for (int64_t rank = up_to(rng, 4); rank > 0; --rank) extents.push_back(up_to(rng, 7));
    if (rng.below(2) == 0) extents[rng.below(extents.size())] = 40;
    if (extents.size() < 3 && rng.below(2) == 0)
      extents.back() = rng.below(2) == 0 ? 700 + up_to(rng, 400) : 64 * up_to(rng, 24);
    loop.count = element_count(extents);
    std::vector<char> kinds;
    for (int i = 0; i < 5; ++i) {
      kinds.push_back(i == 2 || i == 3 ? 'c' : 'n');
      operands.push_back(draw_operand(rng, extents, i == 0 || rng.below(3) == 0, kinds.back() == 'c'));
      loop.operands.push_back(operands.back().how);
    }
    const auto pick = [&](char kind) {
      for (;;) {
        const size_t one = rng.below(kinds.size());
        if (kinds[one] == kind) return static_cast<uint8_t>(one);
      }
    };
    while (loop.steps.size() < steps || (steps > 0 && kinds[loop.steps.back().to] != result)) {
      const Signature& one = kSignatures[rng.below(std::size(kSignatures))];
      LoopStep step{.op = one.op, .alpha = -0.5F, .beta = 0.75F};
      for (size_t i = 0; one.from[i] != 0; ++i) step.from[i] = pick(one.from[i]);
      // Over an argument if that is not an operand of the loop.
      step.to = static_cast<uint8_t>(kinds.size());
      if (step.from[0] >= operands.size() && rng.below(2) == 0) step.to = step.from[0];
      if (step.to == kMaxLoopRegisters) step.to = static_cast<uint8_t>(operands.size() + rng.below(20));
      if (step.to == kinds.size()) kinds.push_back(one.to);
      kinds[step.to] = one.to;
      loop.steps.push_back(step);
    }
    loop.conditions = result == 'c';
  }

  std::vector<const std::byte*> data() const {
    std::vector<const std::byte*> out;
    for (const Given& one : operands) out.push_back(one.data());
    return out;
  }

  /// Returns the elements, computed one by one.
  std::vector<Element> expected() const {
    std::vector<Element> out;
    for (size_t i = 0; i < static_cast<size_t>(loop.count); ++i) {
      Element registers[kMaxLoopRegisters];
      for (size_t k = 0; k < operands.size(); ++k) {
        const auto at = static_cast<size_t>(operands[k].at[i]);
        registers[k] = {operands[k].numbers[at], operands[k].flags[at] != 0};
      }
      for (const LoopStep& step : loop.steps)
        registers[step.to] = performed(step, registers[step.from[0]], registers[step.from[1]], registers[step.from[2]]);
      out.push_back(registers[loop.steps.empty() ? 0 : loop.steps.back().to]);
    }
    return out;
  }
};

bool is_close(float got, float wanted) {
  if (std::isnan(got) || std::isnan(wanted)) return std::isnan(got) && std::isnan(wanted);
  if (std::isinf(got) || std::isinf(wanted)) return got == wanted;
  return std::abs(got - wanted) <= 2e-6F * std::max(std::abs(wanted), 1e-3F);
}

/// Runs a loop and compares every element. Numbers are stored in each way, at addresses for vectors of each width.
void expect_elements(const Drawn& drawn) {
  const auto expected = drawn.expected();
  if (drawn.loop.conditions) {
    std::vector<uint8_t> flags(expected.size());
    run(drawn.loop, drawn.data(), reinterpret_cast<std::byte*>(flags.data()));
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(flags[i] != 0, expected[i].condition) << "at " << i << " of " << expected.size();
    return;
  }
  for (const bool past_caches : {false, true})
    for (const size_t shift : {0, 1, 4, 8}) {
      const AlignedBytes bytes((expected.size() + shift + 1) * sizeof(float));
      auto* const numbers = reinterpret_cast<float*>(bytes.data()) + shift;
      std::fill_n(numbers, expected.size() + 1, 7.0F);
      Loop loop = drawn.loop;
      loop.past_caches = past_caches;
      run(loop, drawn.data(), reinterpret_cast<std::byte*>(numbers));
      for (size_t i = 0; i < expected.size(); ++i)
        ASSERT_TRUE(is_close(numbers[i], expected[i].number))
            << "at " << i << " of " << expected.size() << ": " << numbers[i] << " " << expected[i].number;
      ASSERT_EQ(numbers[expected.size()], 7.0F) << "after the result";
    }
}

TEST(Loop, PerformsEveryStep) {
  Rng rng(1);
  for (const Signature& one : kSignatures) {
    SCOPED_TRACE(static_cast<int>(one.op));
    for (int round = 0; round < 20; ++round) {
      Drawn drawn(rng, 0, one.to);
      LoopStep step{.op = one.op, .to = 5, .alpha = -0.5F, .beta = 0.75F};
      uint8_t number = 0, condition = 2;
      for (size_t i = 0; one.from[i] != 0; ++i) step.from[i] = one.from[i] == 'c' ? condition++ : number++;
      drawn.loop.steps = {step};
      expect_elements(drawn);
    }
  }
}

/// Steps whose results differ from the exact ones by rounding would be amplified by those that follow.
bool is_exact(LoopOp op) {
  switch (op) {
    case LoopOp::Exp:
    case LoopOp::Sigmoid:
    case LoopOp::Tanh:
    case LoopOp::Erf:
    case LoopOp::Linear:
      return false;
    default:
      return true;
  }
}

TEST(Loop, PerformsRandomSteps) {
  for (const int threads : {1, 2, 3}) {
    const ThreadScope scope(threads);
    Rng rng(static_cast<uint64_t>(threads));
    for (int round = 0; round < 300; ++round) {
      const Drawn drawn(rng, 1 + rng.below(30), rng.below(3) == 0 ? 'c' : 'n');
      if (std::ranges::all_of(drawn.loop.steps, is_exact, &LoopStep::op)) expect_elements(drawn);
    }
  }
}

TEST(Loop, WritesOverAnOperand) {
  Rng rng(5);
  for (int round = 0; round < 100; ++round) {
    Drawn drawn(rng, 0, 'n');
    drawn.loop.steps = {{.op = LoopOp::Mul, .to = 5, .from = {1, 4}}, {.op = LoopOp::Sub, .to = 6, .from = {5, 0}}};
    const auto expected = drawn.expected();
    const auto operands = drawn.data();
    run(drawn.loop, operands, reinterpret_cast<std::byte*>(drawn.operands[0].numbers.data()));
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_TRUE(is_close(drawn.operands[0].numbers[i], expected[i].number)) << "at " << i;
  }
}

TEST(Loop, ComputesNothingOfNoElements) {
  const Loop loop{.operands = {{.whole = true}}, .steps = {{.op = LoopOp::Neg, .to = 1}}};
  const std::byte* const none = nullptr;
  run(loop, {&none, 1}, nullptr);
}

/// Compares the sums over random axes with exact ones, and those of several threads with those of one.
TEST(Loop, SumsOverAxes) {
  Rng rng(7);
  int described = 0;
  for (int round = 0; round < 400; ++round) {
    Drawn drawn(rng, 0, 'n');
    std::vector<bool> summed;
    for (size_t axis = 0; axis < drawn.extents.size(); ++axis) summed.push_back(rng.below(2) == 0);
    const auto sum = loop_sum(drawn.extents, summed);
    if (!sum) continue;
    ++described;
    for (Given& one : drawn.operands)
      for (float& x : one.numbers) x = std::isfinite(x) ? std::clamp(x, -2.0F, 2.0F) : 1.5F;
    drawn.loop.sum = sum;
    drawn.loop.sum->factor = 0.5F;
    if (rng.below(3) > 0)
      drawn.loop.steps = {{.op = LoopOp::Sub, .to = 5, .from = {0, 1}}, {.op = LoopOp::Square, .to = 5, .from = {5}}};
    drawn.loop.sum->root = !drawn.loop.steps.empty() && rng.below(2) == 0;
    const auto elements = drawn.expected();
    std::vector<double> expected, magnitude;
    const int64_t count = element_count(drawn.extents);
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i, at = 0, stride = 1;
      for (size_t axis = drawn.extents.size(); axis-- > 0;) {
        if (!summed[axis]) {
          at += rest % drawn.extents[axis] * stride;
          stride *= drawn.extents[axis];
        }
        rest /= drawn.extents[axis];
      }
      expected.resize(static_cast<size_t>(stride));
      magnitude.resize(static_cast<size_t>(stride));
      expected[static_cast<size_t>(at)] += elements[static_cast<size_t>(i)].number;
      magnitude[static_cast<size_t>(at)] += std::abs(elements[static_cast<size_t>(i)].number);
    }
    Floats sums(expected.size()), others(expected.size());
    {
      const ThreadScope scope(1);
      run(drawn.loop, drawn.data(), reinterpret_cast<std::byte*>(sums.data()));
    }
    const ThreadScope scope(3);
    run(drawn.loop, drawn.data(), reinterpret_cast<std::byte*>(others.data()));
    EXPECT_EQ(sums, others);
    for (size_t i = 0; i < sums.size(); ++i) {
      const double wanted = drawn.loop.sum->root ? std::sqrt(expected[i] / 2) : expected[i] / 2;
      const double bound = drawn.loop.sum->root ? 1e-5 * (wanted + 1e-3) : 1e-6 * (magnitude[i] + 1e-3);
      ASSERT_NEAR(sums[i], wanted, bound) << "at " << i;
    }
  }
  EXPECT_GT(described, 300);
}

// Pieces of work depend on the number of threads, but sums do not.
TEST(Loop, SumsOfManyColumnsDoNotDependOnThreads) {
  Rng rng(8);
  for (const int64_t columns : {100, 129, 300, 512, 513, 768, 1100, 3072}) {
    const int64_t rows = 300;
    Floats numbers(static_cast<size_t>(rows * columns)), factors(static_cast<size_t>(rows));
    for (float& x : numbers) x = static_cast<float>(2 * rng.uniform() - 1);
    for (float& x : factors) x = static_cast<float>(0.5 + rng.uniform() / 2);
    Loop loop{.count = rows * columns,
              .operands = {loop_operand(Ints{rows, columns}, Ints{columns, 1}),
                           loop_operand(Ints{rows, columns}, Ints{1, 0})},
              .steps = {{.op = LoopOp::Mul, .to = 5, .from = {0, 1}}},
              .sum = loop_sum(Ints{rows, columns}, {true, false})};
    const std::byte* const operands[] = {reinterpret_cast<const std::byte*>(numbers.data()),
                                         reinterpret_cast<const std::byte*>(factors.data())};
    Floats first;
    for (const int threads : {1, 2, 3, 7}) {
      const ThreadScope scope(threads);
      Floats sums(static_cast<size_t>(columns));
      run(loop, operands, reinterpret_cast<std::byte*>(sums.data()));
      if (first.empty()) first = sums;
      ASSERT_EQ(sums, first) << columns << " columns, " << threads << " threads";
    }
    for (int64_t c = 0; c < columns; ++c) {
      double wanted = 0;
      for (int64_t r = 0; r < rows; ++r)
        wanted += static_cast<double>(numbers[static_cast<size_t>(r * columns + c)]) *
                  static_cast<double>(factors[static_cast<size_t>(r)]);
      ASSERT_NEAR(first[static_cast<size_t>(c)], wanted, 1e-4) << "column " << c << " of " << columns;
    }
  }
}

TEST(LoopChunk, EndsWhereOperandsRepeat) {
  const auto of = [](const Extents& extents, const std::vector<Extents>& strides) {
    Loop loop{.count = element_count(extents), .operands = {{.whole = true}}};
    for (const Extents& one : strides) loop.operands.push_back(loop_operand(extents, one));
    return loop_chunk(loop);
  };
  const Extents scalar{0, 0}, by_row{1, 0}, by_column{0, 1};
  EXPECT_EQ(of({512, 768}, {}), 512);
  EXPECT_EQ(of({512, 768}, {scalar}), 512);
  EXPECT_EQ(of({512, 768}, {by_row}), 384);
  EXPECT_EQ(of({512, 768}, {by_column}), 384);
  EXPECT_EQ(of({512, 768}, {by_row, by_column, scalar}), 384);
  EXPECT_EQ(of({2, 3136}, {by_row}), 448);
  EXPECT_EQ(of({100, 40}, {by_row}), 480);
  EXPECT_EQ(of({100, 24}, {by_row}), 480);
  EXPECT_EQ(of({100, 64}, {by_row}), 512);
  EXPECT_EQ(of({2, 1000}, {by_row}), 512) << "no whole vectors";
  EXPECT_EQ(of({2, 592}, {by_row}), 512) << "only short chunks";
}

TEST(LoopSum, JoinsAxes) {
  const auto of = [](const Extents& extents, const std::vector<bool>& summed) {
    const auto sum = loop_sum(extents, summed);
    return sum ? Extents{sum->outer, sum->summed, sum->kept, sum->summed_too, sum->inner} : Extents{};
  };
  EXPECT_EQ(of({2, 5, 3, 4}, {true, false, true, true}), (Extents{1, 2, 5, 12, 1}));
  EXPECT_EQ(of({2, 5, 3, 4}, {false, false, true, true}), (Extents{1, 1, 10, 12, 1}));
  EXPECT_EQ(of({2, 5, 3, 16}, {true, false, true, false}), (Extents{1, 2, 5, 3, 16}));
  EXPECT_EQ(of({1, 5, 1, 16}, {true, true, false, false}), (Extents{1, 1, 1, 5, 16}));
  EXPECT_EQ(of({2, 5, 3, 4}, {false, true, false, true}), (Extents{2, 5, 3, 4, 1}));
  EXPECT_EQ(of({2, 3, 2, 3, 2, 3}, {true, false, true, false, true, false}), Extents{});
}

}  // namespace
}  // namespace isomer::onednn
