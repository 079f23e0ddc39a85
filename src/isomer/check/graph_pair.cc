#include "isomer/check/graph_pair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "isomer/base/hash.h"
#include "isomer/base/rng.h"
#include "isomer/eval/executor.h"
#include "isomer/ir/field.h"
#include "isomer/ir/text.h"
#include "isomer/ops/half.h"
#include "isomer/ops/kernel_types.h"

namespace isomer {
namespace {

/// How the elements of inputs and weights are drawn.
enum class Draw : uint8_t {
  Normal,    // numbers of either sign
  Positive,  // numbers from 0.1 to 2: for roots, logarithms and variances
  Wide,      // numbers of either sign, some of them large
  Huge,      // numbers of either sign whose exponentials are too large or too small for doubles
  Whole,     // small integers, on which doubles compute exactly if nothing is divided
  Field,     // elements of the prime field
};

/// The draws that are floating-point numbers and computed in doubles.
constexpr std::array kReals = {Draw::Normal, Draw::Positive, Draw::Wide};
constexpr uint64_t kRealSeed = 7;

/// The type to which doubles are rounded between operators.
enum class Rounding : uint8_t { None, Half, BFloat16 };

constexpr double kTolerance = 1e-7;

double draw_real(Draw draw, Rng& rng) {
  switch (draw) {
    case Draw::Positive:
      return 0.1 + 1.9 * rng.uniform();
    case Draw::Wide:
      return rng.normal() * (rng.below(2) == 0 ? 1 : 10);
    case Draw::Huge:
      return rng.normal() * 1000;
    case Draw::Whole:
      return static_cast<double>(rng.between(-500, 500));
    default:
      return rng.normal();
  }
}

/// Integers in a graph with floating-point values are indices. These are valid for any axis (except with Positive,
/// which tries one more).
int64_t draw_index(Draw draw, Rng& rng) { return draw == Draw::Positive ? rng.between(0, 1) : rng.between(-1, 0); }

int64_t draw_integer(Draw draw, Rng& rng) {
  switch (draw) {
    case Draw::Positive:
      return rng.between(0, 1);  // valid as an index
    case Draw::Wide:
      return static_cast<int64_t>(rng.next());
    default: {
      const int64_t value = rng.between(-9, 8);
      return value >= 0 ? value + 1 : value;
    }
  }
}

Tensor drawn(const TensorType& type, Draw draw, uint64_t seed, bool indices) {
  const auto dims = concrete(*type.shape).value_or(Ints{});
  Rng rng(seed);
  const bool field = draw == Draw::Field && is_real(type.dtype);
  Tensor tensor = Tensor::zeros(field ? DType::Field : type.dtype, dims);
  switch (tensor.dtype()) {
    case DType::Field:
      for (Fp& x : tensor.mutable_data<Fp>()) x = Fp::raw(rng.below(Fp::kPrime));
      break;
    case DType::Double:
      for (double& x : tensor.mutable_data<double>()) x = draw_real(draw, rng);
      break;
    case DType::Float:
      for (float& x : tensor.mutable_data<float>()) x = static_cast<float>(draw_real(draw, rng));
      break;
    case DType::Int64:
      for (int64_t& x : tensor.mutable_data<int64_t>()) x = indices ? draw_index(draw, rng) : draw_integer(draw, rng);
      break;
    case DType::Bool:
      for (uint8_t& x : tensor.mutable_data<uint8_t>()) x = static_cast<uint8_t>(rng.below(2));
      break;
    default:
      break;
  }
  return tensor;
}

Tensor rounded(Tensor tensor, Rounding rounding) {
  if (rounding == Rounding::None || tensor.dtype() != DType::Double) return tensor;
  std::vector<double> elements;
  for (const double x : tensor.data<double>()) {
    const auto narrow = static_cast<float>(x);
    elements.push_back(rounding == Rounding::Half ? float{Half(narrow)} : float{BFloat16(narrow)});
  }
  return Tensor::of(tensor.dtype(), tensor.dims(), elements);
}

bool has_reals(const Graph& graph) {
  return std::any_of(graph.inputs().begin(), graph.inputs().end(),
                     [&](ValueId input) { return is_real(graph.type(input).dtype); });
}

/// Runs a graph with values of one kind.
class Evaluation {
 public:
  Evaluation(const Graph& graph, const std::set<uint64_t>& weights, Draw draw, uint64_t seed,
             Rounding rounding = Rounding::None)
      : graph_(graph), weights_(weights), draw_(draw), seed_(seed), rounding_(rounding), has_reals_(has_reals(graph)) {}

  Result<std::vector<Tensor>> run() {
    values_.resize(graph_.num_values());
    for (const Node& node : graph_.nodes()) {
      ISOMER_CHECK(step(node));
      for (uint32_t r = 0; r < node.num_results; ++r) {
        Tensor& value = values_[node.result(r)];
        value = rounded(std::move(value), rounding_);
      }
    }
    std::vector<Tensor> out;
    for (const ValueId output : graph_.outputs()) {
      if (draw_ != Draw::Field) {
        out.push_back(values_[output]);
        continue;
      }
      ISOMER_TRY(Tensor exact, in_field(values_[output]));
      out.push_back(std::move(exact));
    }
    return out;
  }

  Tensor value(ValueId id) const { return values_[id]; }

 private:
  Status step(const Node& node) {
    if (node.is_input()) {
      const auto index = static_cast<uint64_t>(node.attrs.integer("index"));
      values_[node.result()] = drawn(graph_.type(node.result()), draw_, hash_mix(seed_, index), has_reals_);
      return {};
    }
    if (node.is_constant()) {
      ISOMER_TRY(values_[node.result()], constant(node.attrs.tensor("value")));
      return {};
    }
    std::vector<Tensor> operands;
    for (const ValueId id : graph_.operands(node)) operands.push_back(id == kNoValue ? Tensor() : values_[id]);
    auto results = run_node(graph_, node, operands);
    if (!results) return fail_in(node.op->name, results.error());
    for (uint32_t r = 0; r < node.num_results; ++r) values_[node.result(r)] = std::move((*results)[r]);
    return {};
  }

  Result<Tensor> constant(const Tensor& tensor) const {
    if (weights_.contains(tensor.hash()))
      return drawn(tensor.type(), draw_, hash_mix(seed_, tensor.hash()), has_reals_);
    if (draw_ == Draw::Field) return in_field(tensor);
    return tensor;
  }

  const Graph& graph_;
  const std::set<uint64_t>& weights_;
  const Draw draw_;
  const uint64_t seed_;
  const Rounding rounding_;
  const bool has_reals_;
  std::vector<Tensor> values_;
};

/// If an element of `b` is not a number, that of `a` may be anything.
template <class T>
bool close_reals(const Tensor& a, const Tensor& b, double tolerance) {
  const auto x = a.data<T>();
  const auto y = b.data<T>();
  double scale = 1;
  for (const T v : y)
    if (std::isfinite(v)) scale = std::max(scale, std::abs(static_cast<double>(v)));
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || std::isnan(y[i])) continue;
    if (!(std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])) <= tolerance * scale)) return false;
  }
  return true;
}

bool equal_outputs(const std::vector<Tensor>& a, const std::vector<Tensor>& b, double tolerance) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(a[i].type() == b[i].type())) return false;
    if (a[i].dtype() == DType::Double) {
      if (!close_reals<double>(a[i], b[i], tolerance)) return false;
    } else if (a[i].dtype() == DType::Float) {
      if (!close_reals<float>(a[i], b[i], tolerance * 1e3)) return false;
    } else if (!std::ranges::equal(a[i].bytes(), b[i].bytes())) {
      return false;
    }
  }
  return a.size() == b.size();
}

/// Returns whether `got` has an infinity or NaN where `expected` has none.
template <class T>
bool lost_numbers(const Tensor& got, const Tensor& expected) {
  return !std::ranges::equal(got.data<T>(), expected.data<T>(),
                             [](T x, T y) { return std::isfinite(x) || !std::isfinite(y); });
}

/// One pair of runs.
class Trial {
 public:
  Trial(const Graph& before, const Graph& after, const std::set<uint64_t>& weights, Draw draw, uint64_t seed)
      : before_(before, weights, draw, seed),
        graph_(before),
        rewritten_(after),
        expected_(before_.run()),
        got_(expected_ ? Evaluation(after, weights, draw, seed).run() : expected_) {}

  bool ran() const { return expected_.has_value(); }
  bool both_ran() const { return got_.has_value(); }
  /// Why one of them did not run.
  const std::string& reason() const { return got_.error().message; }
  bool agrees(double tolerance) const { return both_ran() && equal_outputs(*got_, *expected_, tolerance); }

  std::string str() const {
    std::string out = print_graph(graph_, {.max_elements = 0}) + "=>\n" + print_graph(rewritten_, {.max_elements = 0});
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
      const Node& node = graph_.node(id);
      if (node.is_input() || node.is_constant())
        out += fmt::format("{} {} = {}\n", node.is_input() ? "input" : "constant", graph_.name(node.result()),
                           tensor_str(before_.value(node.result()), kShown));
    }
    for (size_t i = 0; i < expected_->size(); ++i)
      out +=
          fmt::format("output {}: {} but {}\n", i, tensor_str((*expected_)[i], kShown), tensor_str((*got_)[i], kShown));
    return out;
  }

 private:
  static constexpr int64_t kShown = 64;
  Evaluation before_;
  const Graph& graph_;
  const Graph& rewritten_;
  const Result<std::vector<Tensor>> expected_;
  const Result<std::vector<Tensor>> got_;
};

/// Returns whether all seeds of one draw give exactly the same results; if not, sets the reason.
bool exact(const Graph& before, const Graph& after, const std::set<uint64_t>& weights, Draw draw, std::string& reason) {
  for (const uint64_t seed : {1, 2}) {
    const Trial trial(before, after, weights, draw, seed);
    if (!trial.both_ran()) {
      reason = trial.reason();
      return false;
    }
    if (!trial.agrees(0)) {
      reason = "values differ where arithmetic is exact";
      return false;
    }
  }
  return true;
}

}  // namespace

PairComparison compare_graphs(const Graph& before, const Graph& after, const std::set<uint64_t>& weights) {
  using Outcome = PairComparison::Outcome;
  PairComparison out;
  size_t evaluated = 0;
  for (const Draw draw : kReals) {
    const Trial trial(before, after, weights, draw, kRealSeed);
    if (!trial.both_ran()) {
      out.text = trial.reason();
      // The rewritten graph must run wherever the original one does.
      if (trial.ran()) return {Outcome::Close, false, trial.reason()};
      continue;
    }
    ++evaluated;
    if (!trial.agrees(kTolerance)) return {Outcome::Differs, false, trial.str()};
    out.same_rounding = out.same_rounding && trial.agrees(0);
  }
  if (evaluated == 0) return out;
  out.text.clear();
  out.outcome = Outcome::Exact;
  if (!has_reals(before)) return out;
  std::string reason;
  std::string ignored;
  if (exact(before, after, weights, Draw::Field, reason) || exact(before, after, weights, Draw::Whole, ignored))
    return out;
  return {Outcome::Close, out.same_rounding, reason};
}

bool same_in_16_bits(const Graph& before, const Graph& after, const std::set<uint64_t>& weights) {
  for (const Rounding rounding : {Rounding::Half, Rounding::BFloat16}) {
    for (const Draw draw : kReals) {
      const auto expected = Evaluation(before, weights, draw, kRealSeed, rounding).run();
      const auto got = Evaluation(after, weights, draw, kRealSeed, rounding).run();
      if (expected && got && !equal_outputs(*got, *expected, 0)) return false;
    }
  }
  return true;
}

bool overflows(const Graph& before, const Graph& after, const std::set<uint64_t>& weights) {
  const auto grows = [](const Node& node) { return node.op->has(Trait::Exponential); };
  if (std::ranges::none_of(after.nodes(), grows)) return false;
  const auto expected = Evaluation(before, weights, Draw::Huge, kRealSeed).run();
  const auto got = Evaluation(after, weights, Draw::Huge, kRealSeed).run();
  if (!expected || !got) return false;
  for (size_t i = 0; i < expected->size(); ++i) {
    const Tensor& a = (*expected)[i];
    const Tensor& b = (*got)[i];
    if (a.type() == b.type() && ((a.dtype() == DType::Double && lost_numbers<double>(b, a)) ||
                                 (a.dtype() == DType::Float && lost_numbers<float>(b, a))))
      return true;
  }
  return false;
}

}  // namespace isomer
