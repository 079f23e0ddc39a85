#include "isomer/proof/evaluation.h"

#include <algorithm>
#include <optional>

#include "isomer/ops/accumulate.h"
#include "isomer/ops/elementwise.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// Why there is no value; caught where an evaluation ends.
struct NoValue {
  std::string reason;
};

int64_t floor_of(int64_t a, int64_t b) {
  if (b == 0) throw NoValue{"a quotient by 0"};
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// Values of integer expressions; the bounds of sums are added and removed.
class Integers {
 public:
  Integers(const Scope& scope, const Assignment& given) : scope_(scope), given_(given) {}

  const Scope& scope() const { return scope_; }

  /// Returns nothing if a bound without a value is needed.
  std::optional<int64_t> maybe(const Dim& dim) const {
    return dim.evaluate([this](const std::string& name) { return symbol(name); });
  }
  int64_t value(const Dim& dim) const {
    const auto known = maybe(dim);
    if (!known) throw NoValue{dim.str() + " is not known"};
    return *known;
  }

  bool holds(const Formula& formula) const {
    switch (formula.kind()) {
      case Formula::Kind::True:
      case Formula::Kind::False:
        return formula.is_true();
      case Formula::Kind::Zero:
        return value(formula.dim()) == 0;
      case Formula::Kind::NonNegative:
        return value(formula.dim()) >= 0;
      case Formula::Kind::Not:
        return !holds(formula.parts()[0]);
      case Formula::Kind::And:
        return std::ranges::all_of(formula.parts(), [&](const Formula& part) { return holds(part); });
      case Formula::Kind::Or:
        return std::ranges::any_of(formula.parts(), [&](const Formula& part) { return holds(part); });
    }
    return false;
  }

  /// Calls `visit` for all values of the bounds in the region. Within it, they hide outer bounds of the same names.
  void each(const std::vector<std::string>& open, const Formula& region, const std::function<void()>& visit) {
    const std::map<std::string, int64_t> around = bounds_;
    for (const std::string& name : open) bounds_.erase(name);
    each_open(open, region, visit);
    bounds_ = around;
  }

 private:
  void each_open(std::vector<std::string> open, const Formula& region, const std::function<void()>& visit) {
    if (open.empty()) {
      if (holds(region)) visit();
      return;
    }
    for (size_t i = 0; i < open.size(); ++i) {
      const auto range = range_of(open[i], region);
      if (!range) continue;
      const std::string name = open[i];
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
      for (int64_t v = range->first; v <= range->second; ++v) {
        bounds_[name] = v;
        each_open(open, region, visit);
      }
      bounds_.erase(name);
      return;
    }
    throw NoValue{"a sum over " + open[0] + " without end"};
  }

  std::optional<int64_t> symbol(const std::string& name) const {
    if (const auto found = bounds_.find(name); found != bounds_.end()) return found->second;
    if (const auto found = given_.integers.find(name); found != given_.integers.end()) return found->second;
    const std::vector<Dim>* arguments = scope_.arguments_of(name);
    if (arguments == nullptr) return std::nullopt;
    std::vector<int64_t> values;
    for (const Dim& argument : *arguments) {
      const auto known = maybe(argument);
      if (!known) return std::nullopt;
      values.push_back(*known);
    }
    if (name.starts_with("floor(") || name.starts_with("exact(")) return floor_of(values[0], values[1]);
    if (name.starts_with("clamped(")) return std::min(std::max(values[0], values[1]), values[2]);
    if (name.starts_with("front(")) return values[0] < 0 ? values[0] + values[1] : values[0];
    if (name.starts_with("spread(")) return values[1] == 1 ? 0 : values[0];
    if (name.starts_with("broadcast(")) {
      const auto wide = std::ranges::find_if(values, [](int64_t extent) { return extent != 1; });
      return wide == values.end() ? 1 : *wide;
    }
    const auto list = given_.lists.find(name.substr(0, name.find('[')));
    if (list == given_.lists.end()) return std::nullopt;
    if (values[0] < 0 || values[0] >= static_cast<int64_t>(list->second.size()))
      throw NoValue{"no such entry: " + name};
    return list->second[static_cast<size_t>(values[0])];
  }

  /// Returns the smallest and the largest value that single inequalities of the region allow for a bound.
  std::optional<std::pair<int64_t, int64_t>> range_of(const std::string& bound, const Formula& region) {
    std::optional<int64_t> low;
    std::optional<int64_t> high;
    const auto read = [&](const Formula& part) {
      const bool equality = part.kind() == Formula::Kind::Zero;
      if ((!equality && part.kind() != Formula::Kind::NonNegative) || !is_linear(part.dim(), bound)) return;
      bounds_[bound] = 0;
      const auto at_0 = maybe(part.dim());
      bounds_[bound] = 1;
      const auto at_1 = maybe(part.dim());
      bounds_.erase(bound);
      if (!at_0 || !at_1 || *at_0 == *at_1) return;
      // slope k + at_0 >= 0
      const int64_t slope = *at_1 - *at_0;
      const int64_t min = -floor_of(*at_0, std::abs(slope));
      const int64_t max = floor_of(*at_0, std::abs(slope));
      if (slope > 0 || equality) low = std::max(low.value_or(INT64_MIN), slope > 0 ? min : max);
      if (slope < 0 || equality) high = std::min(high.value_or(INT64_MAX), slope < 0 ? max : min);
    };
    if (region.kind() == Formula::Kind::And)
      for (const Formula& part : region.parts()) read(part);
    else
      read(region);
    if (!low || !high) return std::nullopt;
    return std::pair{*low, *high};
  }

  /// Returns whether a bound occurs in a polynomial at most once per product, and not in a symbol that is defined by
  /// it.
  bool is_linear(const Dim& dim, const std::string& bound) const {
    for (const auto& [names, coefficient] : dim.terms()) {
      if (std::ranges::count(names, bound) > 1) return false;
      for (const std::string& name : names)
        if (name != bound && scope_.symbols_in(Dim::symbol(name)).contains(bound)) return false;
    }
    return true;
  }

  const Scope& scope_;
  const Assignment& given_;
  std::map<std::string, int64_t> bounds_;
};

/// Values of elements in the field (T = Fp), or of integers modulo 2^64 (T = uint64_t).
template <class T>
class Elements {
 public:
  Elements(const Scope& scope, const Assignment& given) : given_(given), integers_(scope, given) {}

  /// Returns the element as a scalar; of the function's own type if it is a single function.
  Tensor scalar_of(const Element& element) {
    if (element.products().size() == 1) {
      const Product& product = element.products()[0];
      const bool bare = product.bounds.empty() && product.region.is_true() && product.coefficient == 1;
      if (bare && product.factors.size() == 1 && is_operator(*product.factors[0])) return call(*product.factors[0]);
    }
    return tensor_of(value(element));
  }

 private:
  static Tensor tensor_of(T value) {
    if constexpr (std::is_same_v<T, Fp>)
      return Tensor::of<Fp>(DType::Field, {}, {value});
    else
      return Tensor::of<uint64_t>(DType::Int64, {}, {value});
  }

  T value(const Element& element) {
    T sum(0);
    for (const Product& product : element.products()) sum = sum + value(product);
    return sum;
  }

  T value(const Product& product) {
    std::vector<const FactorNode*> inside;
    T sum(0);
    std::optional<T> outside;  // the factor that does not depend on the bounds
    integers_.each(product.bounds, product.region, [&] {
      if (!outside) {
        outside = number(product.coefficient);
        for (const Factor& factor : product.factors) {
          if (speaks_of(*factor, product.bounds))
            inside.push_back(factor.get());
          else
            outside = *outside * value(*factor);
        }
      }
      T term = *outside;
      for (const FactorNode* factor : inside) term = term * value(*factor);
      sum = sum + term;
    });
    return sum;
  }

  /// Returns whether a factor contains one of the bounds, except those that a sum within it rebinds.
  bool speaks_of(const FactorNode& factor, std::vector<std::string> bounds) const {
    std::erase_if(bounds, [&](const std::string& name) { return std::ranges::count(factor.bounds, name) > 0; });
    const auto in_symbols = [&](const std::set<std::string>& symbols) {
      return std::ranges::any_of(symbols, [&](const std::string& symbol) {
        const auto all = integers_.scope().symbols_in(Dim::symbol(symbol));
        return std::ranges::any_of(bounds, [&](const std::string& name) { return all.contains(name); });
      });
    };
    std::set<std::string> symbols;
    for (const Dim& dim : factor.index) symbols_of(dim, symbols);
    for (const Formula& region : factor.regions) region.symbols(symbols);
    if (in_symbols(symbols)) return true;
    for (const Element& argument : factor.arguments) {
      for (const Product& product : argument.products()) {
        std::vector<std::string> left = bounds;
        std::erase_if(left, [&](const std::string& name) { return std::ranges::count(product.bounds, name) > 0; });
        FactorNode whole{FactorNode::Kind::Extreme, "", {}, {}, {}, {product.region}};
        if (speaks_of(whole, left)) return true;
        for (const Factor& inner : product.factors)
          if (speaks_of(*inner, left)) return true;
      }
    }
    return false;
  }

  static T number(const Rational& rational) {
    if constexpr (std::is_same_v<T, Fp>) {
      const auto residue = [](const boost::multiprecision::cpp_int& n) {
        return Fp(static_cast<int64_t>(n % Fp::kPrime));
      };
      return residue(numerator(rational)) / residue(denominator(rational));
    } else {
      if (denominator(rational) != 1) throw NoValue{rational.str() + " is not an integer"};
      return static_cast<uint64_t>(static_cast<int64_t>(numerator(rational)));
    }
  }

  T value(const FactorNode& factor) {
    switch (factor.kind) {
      case FactorNode::Kind::Input:
        return input(factor);
      case FactorNode::Kind::Extreme:
        return extreme(factor);
      case FactorNode::Kind::Function:
        break;
    }
    if (factor.name == "scaled") return scaled(factor);
    if (is_operator(factor)) return element_of(call(factor), 0);
    const T x = value(factor.arguments.at(0));
    if constexpr (std::is_same_v<T, Fp>) return factor.name == "relu" ? scalar_max<Fp>(x, Fp(0)) : Fp(1) / x;
    throw NoValue{factor.name + " of integers"};
  }

  T input(const FactorNode& factor) {
    if (factor.name == "#") return T(integers_.value(factor.index.at(0)));
    if (const auto found = given_.numbers.find(factor.name); found != given_.numbers.end())
      return number(Rational(found->second));
    const auto found = given_.tensors.find(factor.name);
    if (found == given_.tensors.end()) throw NoValue{factor.name + " is not known"};
    int64_t offset = 0;
    for (size_t i = 0; i < factor.index.size(); ++i) {
      const int64_t extent = found->second.dims().at(i);
      const int64_t at = integers_.value(factor.index[i]);
      if (at < 0 || at >= extent)
        throw NoValue{fmt::format("{} is read at {} of {} along axis {}", factor.name, at, extent, i)};
      offset = offset * extent + at;
    }
    return element_of(found->second, static_cast<size_t>(offset));
  }

  static T element_of(const Tensor& tensor, size_t i) {
    if constexpr (std::is_same_v<T, Fp>) {
      if (tensor.dtype() == DType::Field) return tensor.data<Fp>()[i];
    } else {
      if (tensor.dtype() == DType::Int64) return tensor.data<uint64_t>()[i];
    }
    if (tensor.dtype() == DType::Bool) return T(tensor.data<uint8_t>()[i]);
    throw NoValue{"an element of " + tensor.type().str()};
  }

  T extreme(const FactorNode& factor) {
    using Ordered = std::conditional_t<std::is_same_v<T, Fp>, Fp, int64_t>;
    const bool largest = factor.name == "max";
    Ordered best = largest ? lattice_bottom<Ordered>() : lattice_top<Ordered>();
    for (size_t i = 0; i < factor.arguments.size(); ++i)
      integers_.each(factor.bounds, factor.regions[i], [&] {
        const auto x = static_cast<Ordered>(value(factor.arguments[i]));
        best = largest ? lattice_max(best, x) : lattice_min(best, x);
      });
    return static_cast<T>(best);
  }

  /// A factor of Gemm for integers.
  T scaled(const FactorNode& factor) {
    if constexpr (std::is_same_v<T, Fp>) {
      return value(factor.arguments[0]) * value(factor.arguments[1]);
    } else {
      const Element& scale = factor.arguments[0];
      double by = 0;
      if (const auto known = scale.number())
        by = static_cast<double>(*known);
      else
        by = given_.numbers.at(scale.products()[0].factors[0]->name);
      const auto x = static_cast<int64_t>(value(factor.arguments[1]));
      return static_cast<uint64_t>(by == 1 ? x : saturated<int64_t>(by * static_cast<double>(x)));
    }
  }

  static std::string operator_name(const FactorNode& factor) { return factor.name.substr(0, factor.name.find(' ')); }
  static bool is_operator(const FactorNode& factor) {
    return factor.kind == FactorNode::Kind::Function && find_op(operator_name(factor)) != nullptr;
  }

  /// Returns what the kernel of the operator with the function's name computes for scalars.
  Tensor call(const FactorNode& factor) {
    const std::string name = operator_name(factor);
    const bool own = given_.op != nullptr && given_.op->name == name;
    const OpDef& op = own ? *given_.op : *find_op(name);
    const auto attrs = own ? Result<Attrs>(given_.attrs) : complete_attrs(op, {});
    std::vector<Tensor> operands;
    std::vector<TensorType> types;
    std::vector<const TensorType*> views;
    for (size_t i = 0; i < factor.arguments.size(); ++i) {
      const T x = value(factor.arguments[i]);
      const bool boolean = own && i < given_.operand_dtypes.size() && given_.operand_dtypes[i] == DType::Bool;
      operands.push_back(boolean ? Tensor::of<uint8_t>(DType::Bool, {}, {static_cast<uint8_t>(!(x == T(0)))})
                                 : tensor_of(x));
      types.push_back(operands.back().type());
    }
    views.reserve(types.size());
    for (const TensorType& type : types) views.push_back(&type);
    if (!attrs) throw NoValue{attrs.error().message};
    const auto inferred = op.infer(OpView{op, *attrs, views, 1});
    if (!inferred) throw NoValue{inferred.error().message};
    KernelContext context{*attrs, operands, *inferred};
    if (const Status status = op.kernel(context); !status) throw NoValue{status.error().message};
    return context.results.at(0);
  }

  const Assignment& given_;
  Integers integers_;
};

template <class F>
auto caught(F f) -> Result<decltype(f())> {
  try {
    return f();
  } catch (const NoValue& none) {
    return fail("{}", none.reason);
  }
}

}  // namespace

Result<int64_t> evaluate(const Scope& scope, const Dim& dim, const Assignment& given) {
  return caught([&] { return Integers(scope, given).value(dim); });
}

Result<bool> evaluate(const Scope& scope, const Formula& formula, const Assignment& given) {
  return caught([&] { return Integers(scope, given).holds(formula); });
}

Result<Tensor> evaluate(const Scope& scope, const Element& element, const Assignment& given, DType domain) {
  return caught([&] {
    return domain == DType::Field ? Elements<Fp>(scope, given).scalar_of(element)
                                  : Elements<uint64_t>(scope, given).scalar_of(element);
  });
}

}  // namespace isomer
