#pragma once
// An element of a tensor as a formula: a polynomial, with sums over index ranges, of elements of the input tensors and
// of uninterpreted functions.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "isomer/smt/solver.h"

namespace isomer {

class Element;

/// A factor of a product; immutable.
struct FactorNode {
  enum class Kind : uint8_t {
    Input,     ///< name[index]: an element of an input tensor; an empty index means an unknown number
    Function,  ///< name(arguments)
    Extreme,   ///< the maximum or minimum (by name) of the cases of `arguments` over all values of `bounds`
  };
  Kind kind = Kind::Input;
  std::string name;
  std::vector<Dim> index = {};
  std::vector<Element> arguments;        // no initializer: Element is not complete yet
  std::vector<std::string> bounds = {};  ///< of Extreme
  std::vector<Formula> regions = {};     ///< of Extreme: where each argument applies
};
using Factor = std::shared_ptr<const FactorNode>;

/// Σ of coefficient · factors over all integer values of `bounds` that satisfy `region`. The region is bounded.
struct Product {
  Rational coefficient = 1;
  std::vector<std::string> bounds = {};
  Formula region = true;
  std::vector<Factor> factors = {};
};

/// A sum of products. Names of bounds are unique within a product.
class Element {
 public:
  Element() = default;                                // 0
  Element(Rational number);                           // NOLINT(google-explicit-constructor): a number is an element
  Element(int number) : Element(Rational(number)) {}  // NOLINT(google-explicit-constructor)
  explicit Element(Factor factor) : products_{{1, {}, true, {std::move(factor)}}} {}
  explicit Element(std::vector<Product> products) : products_(std::move(products)) {}

  /// The element of the input tensor `name` at `index`.
  static Element input(std::string name, std::vector<Dim> index);
  /// The integer as an element. Each of its symbols N becomes the element #[N].
  static Element integer(const Dim& dim);

  const std::vector<Product>& products() const { return products_; }
  /// The value if this is a number.
  std::optional<Rational> number() const;
  std::string str() const;

  friend Element operator+(const Element& a, const Element& b);
  friend Element operator*(const Rational& scale, const Element& a);
  friend Element operator-(const Element& a, const Element& b) { return a + Rational(-1) * b; }

 private:
  std::vector<Product> products_;
};

/// The uninterpreted function name(arguments).
Element function(std::string name, std::vector<Element> arguments);
/// relu(x) of a real number. Simplified by: relu(relu(y)) = relu(y), relu(c y) = c relu(y) for a number c > 0, relu(-y)
/// = relu(y) - y, relu(y relu(z)) = relu(y) relu(z), relu(y z z) = relu(y) z z. The relu of a maximum is the maximum of
/// the relus.
Element relu(const Element& x);
/// 1 / x. Simplified by 1 / (x y) = (1 / x) (1 / y). Nothing is canceled, since x may be 0.
Element inverse(const Element& x);

std::string factor_str(const FactorNode& factor);

}  // namespace isomer
