#include "isomer/base/function_ref.h"

#include <gtest/gtest.h>

#include <memory>

namespace isomer {
namespace {

int twice(FunctionRef<int(int)> f) { return f(f(1)); }

TEST(FunctionRef, CallsWhatItWasMadeOf) {
  int calls = 0;
  EXPECT_EQ(twice([&](int x) {
              ++calls;
              return x + 5;
            }),
            11);
  EXPECT_EQ(calls, 2);
}

TEST(FunctionRef, CopiesReferToTheSame) {
  int sum = 0;
  const auto add = [&](int x) { sum += x; };
  const FunctionRef<void(int)> first = add;
  const FunctionRef<void(int)> second = first;
  first(1);
  second(2);
  EXPECT_EQ(sum, 3);
}

TEST(FunctionRef, ArgumentsAreMoved) {
  const auto unwrap = [](std::unique_ptr<int> x) { return *x; };
  const FunctionRef<int(std::unique_ptr<int>)> f = unwrap;
  EXPECT_EQ(f(std::make_unique<int>(7)), 7);
}

}  // namespace
}  // namespace isomer
