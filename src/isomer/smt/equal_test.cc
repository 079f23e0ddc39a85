// Laws of sums, and false statements that must not be proved.

#include "isomer/smt/equal.h"

#include <gtest/gtest.h>

namespace isomer {
namespace {

using Index = std::vector<Dim>;

/// Whether two elements are equal in every case of the exploration.
bool proves(const std::function<std::pair<Element, Element>(Scope&)>& sides) {
  Scope scope;
  bool all = true;
  size_t cases = 0;
  scope.explore([&] {
    const auto [a, b] = sides(scope);
    ++cases;
    all = all && equal_elements(scope, a, b);
  });
  return all && cases > 0;
}

const Dim N = Dim::symbol("N");
const Dim M = Dim::symbol("M");
const Dim I = Dim::symbol("i");

Element x(const Index& at) { return Element::input("x", at); }
Element y(const Index& at) { return Element::input("y", at); }

void sizes(Scope& scope) {
  scope.assume(at_most(0, N));
  scope.assume(at_most(0, M));
}

TEST(EqualElements, SumsSplit) {
  // Σ_{k<N+M} [k<N ? x[k] : y[k-N]] = Σ_{k<N} x[k] + Σ_{k<M} y[k]
  EXPECT_TRUE(proves([](Scope& scope) {
    sizes(scope);
    const Element whole =
        scope.sum({N + M}, [&](const Index& k) { return scope.decide(less(k[0], N)) ? x(k) : y({k[0] - N}); });
    return std::pair{whole, scope.sum({N}, x) + scope.sum({M}, y)};
  }));
}

TEST(EqualElements, OneIndexThatCountsIsNoSum) {
  // Σ_{k<3} [1 <= k and k <= last] x[k] = x[1] if last is 1, but not if it is 2
  const auto holds = [](const Dim& last) {
    return proves([&](Scope& scope) {
      const auto body = [&](const Index& k) {
        return scope.decide(at_most(1, k[0])) && scope.decide(at_most(k[0], last)) ? x(k) : Element();
      };
      return std::pair{scope.sum({3}, body), x({1})};
    });
  };
  EXPECT_TRUE(holds(1));
  EXPECT_FALSE(holds(2));
}

TEST(EqualElements, OneMoreIsNotEqual) {
  EXPECT_FALSE(proves([](Scope& scope) {
    sizes(scope);
    return std::pair{scope.sum({N + 1}, x), scope.sum({N}, x)};
  }));
}

TEST(EqualElements, SumsOfEqualSummandsAreProducts) {
  const auto copies = [](const Element& of) { return [of](const Index& /*k*/) { return of; }; };
  const auto total = [](Scope& scope) { return scope.sum({N}, x); };
  // Σ_{k<N} y[i] = N y[i], and Σ_{k<4} y[i] = 4 y[i]
  EXPECT_TRUE(proves([&](Scope& scope) {
    sizes(scope);
    return std::pair{scope.sum({N}, copies(y({I}))), scope.times(Element::integer(N), y({I}))};
  }));
  EXPECT_TRUE(proves([&](Scope& scope) { return std::pair{scope.sum({4}, copies(y({I}))), Rational(4) * y({I})}; }));
  // Not of an N that may be negative: then the sum is 0.
  EXPECT_FALSE(proves([&](Scope& scope) {
    return std::pair{scope.sum({N}, copies(y({I}))), scope.times(Element::integer(N), y({I}))};
  }));
  // Σ_{j<N} 1/N Σ_{k<N} x[k] = Σ_{k<N} x[k]: without elements, both are 0.
  EXPECT_TRUE(proves([&](Scope& scope) {
    sizes(scope);
    const Element mean = scope.times(inverse(Element::integer(N)), total(scope));
    return std::pair{scope.sum({N}, copies(mean)), total(scope)};
  }));
  // Σ_{j<M} 1/N Σ_{k<N} x[k] is another number.
  EXPECT_FALSE(proves([&](Scope& scope) {
    sizes(scope);
    const Element mean = scope.times(inverse(Element::integer(N)), total(scope));
    return std::pair{scope.sum({M}, copies(mean)), total(scope)};
  }));
  // Nor is N 1/N = 1 for any N.
  EXPECT_FALSE(proves([&](Scope& scope) {
    sizes(scope);
    return std::pair{scope.sum({N}, copies(inverse(Element::integer(N)))), Element(1)};
  }));
}

TEST(EqualElements, SumsOfUnequalSummandsAreNoProducts) {
  // Σ_{k<N} [k<M ? y[i] : 0] is neither N y[i] nor M y[i].
  for (const Dim& factor : {N, M})
    EXPECT_FALSE(proves([&](Scope& scope) {
      sizes(scope);
      const Element sum =
          scope.sum({N}, [&](const Index& k) { return scope.decide(less(k[0], M)) ? y({I}) : Element(); });
      return std::pair{sum, scope.times(Element::integer(factor), y({I}))};
    }));
  // Σ_{k<N} y[k/2] depends on k by a quotient: its summands are not equal.
  const auto halves = [](Scope& scope) {
    return scope.sum({N}, [&](const Index& k) { return y({scope.quotient(k[0], 2)}); });
  };
  EXPECT_TRUE(proves([&](Scope& scope) {
    sizes(scope);
    return std::pair{halves(scope), halves(scope)};
  }));
  EXPECT_FALSE(proves([&](Scope& scope) {
    sizes(scope);
    return std::pair{halves(scope), scope.times(Element::integer(N), y({0}))};
  }));
  // Σ_{j<N} Σ_{k<j} y[i] has fewer summands than Σ_{j<N} Σ_{k<N} y[i].
  const auto triangle = [](Scope& scope, bool square) {
    return scope.sum(
        {N}, [&](const Index& j) { return scope.sum({square ? N : j[0]}, [](const Index& /*k*/) { return y({I}); }); });
  };
  for (const bool square : {false, true})
    EXPECT_EQ(proves([&](Scope& scope) {
                sizes(scope);
                return std::pair{triangle(scope, square), triangle(scope, true)};
              }),
              square);
}

TEST(EqualElements, SumsWithoutSummandsAreZero) {
  const auto nothing = [](Scope& scope) { return scope.sum({0}, [](const Index& /*k*/) { return y({I}); }); };
  EXPECT_TRUE(proves([&](Scope& scope) { return std::pair{nothing(scope), Element()}; }));
  EXPECT_TRUE(proves([&](Scope& scope) {
    return std::pair{inverse(scope.times(nothing(scope), x({I}))), inverse(Element())};
  }));
}

TEST(EqualElements, OrderOfSums) {
  const auto z = [](const Dim& a, const Dim& b) { return Element::input("z", {a, b}); };
  const auto rows = [&](Scope& scope) {
    return scope.sum({N},
                     [&](const Index& a) { return scope.sum({M}, [&](const Index& b) { return z(a[0], b[0]); }); });
  };
  const auto columns = [&](Scope& scope, bool transposed) {
    return scope.sum({M}, [&](const Index& b) {
      return scope.sum({N}, [&](const Index& a) { return transposed ? z(b[0], a[0]) : z(a[0], b[0]); });
    });
  };
  EXPECT_TRUE(proves([&](Scope& scope) {
    sizes(scope);
    return std::pair{rows(scope), columns(scope, false)};
  }));
  EXPECT_FALSE(proves([&](Scope& scope) {
    sizes(scope);
    return std::pair{rows(scope), columns(scope, true)};
  }));
}

TEST(EqualElements, ASquaredSumIsADoubleSum) {
  EXPECT_TRUE(proves([](Scope& scope) {
    sizes(scope);
    const Element sum = scope.sum({N}, x);
    const Element both = scope.sum(
        {N}, [&](const Index& a) { return scope.sum({N}, [&](const Index& b) { return scope.times(x(a), x(b)); }); });
    return std::pair{scope.times(sum, sum), both};
  }));
  EXPECT_FALSE(proves([](Scope& scope) {
    sizes(scope);
    const Element sum = scope.sum({N}, x);
    return std::pair{scope.times(sum, sum), scope.sum({N}, [&](const Index& a) { return scope.times(x(a), x(a)); })};
  }));
}

TEST(EqualElements, ASumWithinAFunctionKeepsItsIndex) {
  // Σ_a x[a] f(Σ_b z[b, a]) and Σ_a x[a] f(Σ_b z[b, b]): the outer index must not be captured by the inner one.
  const auto z = [](const Dim& a, const Dim& b) { return Element::input("z", {a, b}); };
  const auto nested = [&](Scope& scope, bool diagonal) {
    return scope.sum({N}, [&](const Index& a) {
      const Element inner = scope.sum({N}, [&](const Index& b) { return z(b[0], diagonal ? b[0] : a[0]); });
      return scope.times(x(a), function("f", {inner}));
    });
  };
  EXPECT_TRUE(proves([&](Scope& scope) {
    sizes(scope);
    return std::pair{nested(scope, false), nested(scope, false)};
  }));
  EXPECT_FALSE(proves([&](Scope& scope) {
    sizes(scope);
    return std::pair{nested(scope, false), nested(scope, true)};
  }));
  // A mean times a function of the same mean: nested bounds have equal names.
  EXPECT_TRUE(proves([&](Scope& scope) {
    sizes(scope);
    const Element sum = scope.sum({N}, x);
    const Element other = scope.sum({N}, x);
    return std::pair{scope.times(sum, function("f", {sum})), scope.times(other, function("f", {sum}))};
  }));
  EXPECT_FALSE(proves([&](Scope& scope) {
    sizes(scope);
    const Element sum = scope.sum({N}, x);
    const Element shifted = scope.sum({N}, [](const Index& k) { return x({k[0] + 1}); });
    return std::pair{scope.times(sum, function("f", {sum})), scope.times(shifted, function("f", {sum}))};
  }));
}

TEST(EqualElements, FunctionsOfEqualsAreEqual) {
  EXPECT_TRUE(proves([](Scope& scope) {
    sizes(scope);
    const Element a = scope.sum({N + M}, x);
    const Element b = scope.sum({N}, x) + scope.sum({M}, [](const Index& k) { return x({k[0] + N}); });
    return std::pair{function("exp", {a}), function("exp", {b})};
  }));
  EXPECT_FALSE(proves([](Scope& scope) {
    sizes(scope);
    return std::pair{function("exp", {x({I})}), function("exp", {x({I + 1})})};
  }));
}

TEST(EqualElements, AOneHotSelects) {
  EXPECT_TRUE(proves([](Scope& scope) {
    sizes(scope);
    scope.assume(within(0, I, N));
    const Element selected =
        scope.sum({N}, [&](const Index& k) { return scope.decide(equal(k[0], I)) ? x(k) : Element(0); });
    return std::pair{selected, x({I})};
  }));
}

TEST(EqualElements, LargestOfTwoParts) {
  const auto largest = [](Scope& scope, const Dim& extent, const Dim& from) {
    return scope.extreme("max", {extent}, [&](const Index& k) { return std::optional(x({k[0] + from})); });
  };
  EXPECT_TRUE(proves([&](Scope& scope) {
    sizes(scope);
    return std::pair{largest(scope, N, 0), largest(scope, N, 0)};
  }));
  EXPECT_FALSE(proves([&](Scope& scope) {
    sizes(scope);
    return std::pair{largest(scope, N, 0), largest(scope, N, 1)};
  }));
}

/// Σ_{0 <= k < extent} f(inner), where the bound has the same name as one in `inner`.
Element shadowing_sum(const Element& inner, const Dim& extent) {
  const std::string k = inner.products().at(0).bounds.at(0);
  Product outer = function("f", {inner}).products()[0];
  outer.bounds = {k};
  outer.region = within(0, Dim::symbol(k), extent);
  return Element(std::vector<Product>{outer});
}

TEST(EqualElements, BoundsOfEqualNamesFurtherOutAreOthers) {
  // The range of the outer k must not restrict the inner one.
  EXPECT_FALSE(proves([](Scope& scope) {
    sizes(scope);
    const Element all = scope.sum({M}, x);
    const Element some =
        scope.sum({M}, [&](const Index& k) { return scope.decide(less(k[0], N)) ? x(k) : Element(0); });
    return std::pair{shadowing_sum(all, N), shadowing_sum(some, N)};
  }));
  EXPECT_TRUE(proves([](Scope& scope) {
    sizes(scope);
    return std::pair{shadowing_sum(scope.sum({M}, x), N), shadowing_sum(scope.sum({M}, x), N)};
  }));
}

TEST(Scope, SubstitutionLeavesBoundsOfEqualNamesAlone) {
  Scope scope;
  scope.explore([&] {
    sizes(scope);
    const Element sum = scope.sum({M}, x);
    const std::string k = sum.products().at(0).bounds.at(0);
    EXPECT_TRUE(equal_elements(scope, scope.substitute(sum, {{k, N}}), sum));
    // Nor do they capture substituted values.
    const Element shifted = scope.sum({M}, [&](const Index& at) { return x({at[0] + I}); });
    const std::string bound = shifted.products().at(0).bounds.at(0);
    const Element caught = scope.sum({M}, [&](const Index& at) { return x({at[0] + at[0]}); });
    EXPECT_FALSE(equal_elements(scope, scope.substitute(shifted, {{"i", Dim::symbol(bound)}}), caught));
  });
}

TEST(EqualElements, NothingIsCancelled) {
  // x / x is not 1, because x may be 0.
  EXPECT_FALSE(proves([](Scope& scope) { return std::pair{scope.times(x({I}), inverse(x({I}))), Element(1)}; }));
}

TEST(Scope, QuotientsOfFlatIndices) {
  Scope scope;
  scope.explore([&] {
    const Dim a = Dim::symbol("a");
    const Dim b = Dim::symbol("b");
    scope.assume(within(0, b, M));
    EXPECT_EQ(scope.quotient(a * M + b, M), a);
    EXPECT_EQ(scope.remainder(a * M + b, M), b);
  });
}

TEST(Scope, CasesThatContradictTheFactsAreLeftOut) {
  Scope scope;
  std::vector<bool> seen;
  scope.explore([&] {
    scope.assume(at_most(3, N));
    if (!scope.decide(less(N, 5))) scope.assume(less(N, 4));
    seen.push_back(scope.decide(equal(N, 3)));
  });
  EXPECT_EQ(seen, (std::vector<bool>{true, false}));
}

TEST(Elements, ReluLeavesFactorsThatAreNotNegative) {
  const Element x = Element::input("x", {});
  const Element y = Element::input("y", {});
  Scope scope;
  EXPECT_EQ(relu(scope.times(x, relu(y))).str(), scope.times(relu(x), relu(y)).str());
  EXPECT_EQ(relu(scope.times(relu(x), relu(y))).str(), scope.times(relu(x), relu(y)).str());
  EXPECT_EQ(relu(Rational(-2) * scope.times(relu(x), relu(y))).str(), "0");
  EXPECT_EQ(relu(scope.times(x, x)).str(), scope.times(x, x).str());
  EXPECT_EQ(relu(scope.times(scope.times(x, y), x)).str(), scope.times(relu(y), scope.times(x, x)).str());
  EXPECT_NE(relu(scope.times(x, y)).str(), scope.times(x, relu(y)).str());
  EXPECT_NE(relu(scope.times(scope.times(x, x), x)).str(), scope.times(scope.times(x, x), x).str());
}

}  // namespace
}  // namespace isomer
