#include "isomer/base/dim.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "isomer/base/hash.h"

namespace isomer {
namespace {

int64_t saturate(__int128 value) {
  if (value > Dim::kHuge) return Dim::kHuge;
  if (value < -Dim::kHuge) return -Dim::kHuge;
  return static_cast<int64_t>(value);
}

int64_t floor_div_int(int64_t a, int64_t b) {
  if (b == -1) return saturate(-static_cast<__int128>(a));  // the least integer has no negative of 64 bits
  const int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

using Terms = std::vector<std::pair<std::vector<std::string>, int64_t>>;

/// Returns the sum of two polynomials; each is sorted by monomial, and so is the sum.
Terms merged(Terms a, Terms b) {
  Terms sum;
  sum.reserve(a.size() + b.size());
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() && y != b.end()) {
    const auto order = x->first <=> y->first;
    if (order == 0) y->second = saturate(static_cast<__int128>(x++->second) + y->second);
    sum.push_back(std::move(order < 0 ? *x++ : *y++));
  }
  std::move(x, a.end(), std::back_inserter(sum));
  std::move(y, b.end(), std::back_inserter(sum));
  return sum;
}

}  // namespace

Dim Dim::symbol(const std::string& name) { return from_poly({{{name}, 1}}); }

Dim Dim::from_poly(Poly poly) {
  std::erase_if(poly, [](const auto& term) { return term.second == 0; });
  if (poly.empty()) return Dim(0);
  if (poly.size() == 1 && poly[0].first.empty()) return Dim(poly[0].second);
  Dim dim;
  dim.poly_ = std::make_shared<const Poly>(std::move(poly));
  return dim;
}

Dim::Poly Dim::poly() const {
  if (poly_) return *poly_;
  if (value_ == 0) return {};
  return {{{}, value_}};
}

std::optional<std::string> Dim::symbol_name() const {
  if (!poly_ || poly_->size() != 1) return std::nullopt;
  const auto& [monomial, coefficient] = poly_->front();
  if (coefficient != 1 || monomial.size() != 1) return std::nullopt;
  return monomial.front();
}

std::string Dim::str() const {
  if (is_const()) return std::to_string(value_);
  std::string out;
  // The constant term sorts first, but is usually written last.
  Poly terms = *poly_;
  std::rotate(terms.begin(), terms.begin() + (terms.front().first.empty() ? 1 : 0), terms.end());
  for (const auto& [monomial, coefficient] : terms) {
    const int64_t magnitude = coefficient < 0 ? -coefficient : coefficient;
    if (coefficient < 0)
      out += '-';
    else if (!out.empty())
      out += '+';
    if (magnitude != 1 || monomial.empty()) out += std::to_string(magnitude);
    for (size_t i = 0; i < monomial.size(); ++i) {
      if (i > 0 || magnitude != 1) out += '*';
      out += monomial[i];
    }
  }
  return out;
}

uint64_t Dim::hash() const {
  if (is_const()) return hash_mix(1, static_cast<uint64_t>(value_));
  return hash_mix(2, hash_text(str()));
}

std::optional<int64_t> Dim::evaluate(const std::function<std::optional<int64_t>(const std::string&)>& value_of) const {
  if (is_const()) return value_;
  __int128 sum = 0;
  for (const auto& [monomial, coefficient] : *poly_) {
    __int128 product = coefficient;
    for (const std::string& name : monomial) {
      const auto value = value_of(name);
      if (!value) return std::nullopt;
      product = saturate(product) * static_cast<__int128>(*value);
    }
    sum += saturate(product);
  }
  return saturate(sum);
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.is_const() || b.is_const()) return a.is_const() && b.is_const() && a.value_ == b.value_;
  return a.poly_ == b.poly_ || *a.poly_ == *b.poly_;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return saturate(static_cast<__int128>(a.value_) + b.value_);
  return Dim::from_poly(merged(a.poly(), b.poly()));
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return saturate(static_cast<__int128>(a.value_) * b.value_);
  std::map<Dim::Monomial, int64_t> product;
  for (const auto& x : a.poly()) {
    for (const auto& y : b.poly()) {
      Dim::Monomial monomial = x.first;
      monomial.insert(monomial.end(), y.first.begin(), y.first.end());
      std::sort(monomial.begin(), monomial.end());
      int64_t& coefficient = product[monomial];
      coefficient = saturate(coefficient + static_cast<__int128>(x.second) * y.second);
    }
  }
  return Dim::from_poly(Dim::Poly(product.begin(), product.end()));
}

Dim operator-(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return saturate(static_cast<__int128>(a.value_) - b.value_);
  Dim::Poly negative = b.poly();
  for (auto& [monomial, coefficient] : negative) coefficient = saturate(-static_cast<__int128>(coefficient));
  return Dim::from_poly(merged(a.poly(), std::move(negative)));
}

Dim floor_div(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const() && b.value_ != 0) return floor_div_int(a.value_, b.value_);
  if (b.is(1)) return a;
  // Divides every term exactly by a single-term divisor; any other quotient becomes a symbol.
  const Dim::Poly divisor = b.poly();
  if (divisor.size() == 1) {
    const auto& [names, factor] = divisor.front();
    Dim::Poly quotient;
    bool exact = true;
    for (auto [monomial, coefficient] : a.poly()) {
      const int64_t part = floor_div_int(coefficient, factor);
      if (static_cast<__int128>(part) * factor != coefficient) exact = false;
      for (const std::string& name : names) {
        const auto at = std::find(monomial.begin(), monomial.end(), name);
        if (at == monomial.end()) {
          exact = false;
          break;
        }
        monomial.erase(at);
      }
      if (!exact) break;
      quotient.emplace_back(std::move(monomial), part);
    }
    if (exact) {
      std::sort(quotient.begin(), quotient.end());
      return Dim::from_poly(std::move(quotient));
    }
  }
  return Dim::symbol(fmt::format("floor({}/{})", a.str(), b.is_const() ? b.str() : "(" + b.str() + ")"));
}

Dim ceil_div(const Dim& a, const Dim& b) { return Dim(0) - floor_div(Dim(0) - a, b); }

std::optional<bool> at_least(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (difference.is_const()) return difference.value_ >= 0;
  bool none_negative = true;
  bool none_positive = true;
  bool negative_constant = false;
  for (const auto& [monomial, coefficient] : difference.poly()) {
    // The quotient of a difference may be negative, so nothing is known about the sign of a "floor(...)" symbol. Other
    // named expressions ("broadcast(M,N)") are extents.
    for (const std::string& name : monomial)
      if (name.starts_with("floor(")) return std::nullopt;
    none_negative = none_negative && coefficient > 0;
    none_positive = none_positive && coefficient < 0;
    negative_constant = negative_constant || (monomial.empty() && coefficient < 0);
  }
  if (none_negative) return true;
  if (none_positive && negative_constant) return false;
  return std::nullopt;
}

std::string shape_str(const Shape& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) out += (i > 0 ? "," : "") + shape[i].str();
  return out + "]";
}

Dim element_count(const Shape& shape) {
  Dim product(1);
  for (const Dim& dim : shape) product = product * dim;
  return product;
}

std::optional<std::vector<int64_t>> concrete(const Shape& shape) {
  std::vector<int64_t> dims;
  dims.reserve(shape.size());
  for (const Dim& dim : shape) {
    if (!dim.is_const()) return std::nullopt;
    dims.push_back(dim.value());
  }
  return dims;
}

}  // namespace isomer
