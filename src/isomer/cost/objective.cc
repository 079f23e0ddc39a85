#include "isomer/cost/objective.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace isomer {
namespace {

struct Name {
  std::string_view name;
  double Metrics::*metric;
};
constexpr std::array<Name, 8> kNames{{{"latency_us", &Metrics::latency_us},
                                      {"latency", &Metrics::latency_us},
                                      {"critical_path_us", &Metrics::critical_path_us},
                                      {"flops", &Metrics::flops},
                                      {"bytes", &Metrics::bytes},
                                      {"kernels", &Metrics::kernels},
                                      {"peak_bytes", &Metrics::peak_bytes},
                                      {"memory", &Metrics::peak_bytes}}};

constexpr int kMaxNested = 100;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

/// Recursive descent: sums of products of factors.
class MetricParser {
 public:
  explicit MetricParser(std::string_view text) : text_(text) {}

  Result<MetricExpression> parse() {
    ISOMER_CHECK(sum());
    skip_blanks();
    if (at_ < text_.size()) return error(fmt::format("unexpected '{}'", text_[at_]));
    return std::move(out_);
  }

 private:
  using Step = MetricExpression::Step;

  tl::unexpected<Error> error(const std::string& what) const {
    return fail("'{}', column {}: {}", text_, at_ + 1, what);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void push(Step step) {
    out_.steps_.push_back(step);
    out_.depth_ = std::max(out_.depth_, ++height_);
  }
  void combine(Step::Kind kind) {
    out_.steps_.push_back({.kind = kind});
    --height_;
  }

  Status sum() {
    ISOMER_CHECK(product());
    for (;;) {
      const bool plus = take('+');
      if (!plus && !take('-')) return {};
      ISOMER_CHECK(product());
      combine(plus ? Step::Plus : Step::Minus);
    }
  }

  Status product() {
    ISOMER_CHECK(factor());
    for (;;) {
      const bool times = take('*');
      if (!times && !take('/')) return {};
      ISOMER_CHECK(factor());
      combine(times ? Step::Times : Step::Over);
    }
  }

  Status factor() {
    if (nested_ >= kMaxNested) return error("nested too deeply");
    ++nested_;
    Status status = nested_factor();
    --nested_;
    return status;
  }

  Status nested_factor() {
    if (take('-')) {
      ISOMER_CHECK(factor());
      out_.steps_.push_back({.kind = Step::Negate});
      return {};
    }
    if (take('(')) {
      ISOMER_CHECK(sum());
      if (!take(')')) return error("missing ')'");
      return {};
    }
    if (at_ < text_.size() && is_letter(text_[at_])) return name();
    if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) return number();
    return error(at_ < text_.size() ? fmt::format("unexpected '{}'", text_[at_]) : "something is missing");
  }

  Status name() {
    const size_t first = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(first, at_ - first);
    for (const auto& [name, metric] : kNames) {
      if (name != word) continue;
      push({.kind = Step::Metric, .metric = metric});
      return {};
    }
    at_ = first;
    return error(fmt::format(
        "unknown '{}'; there are: latency_us (latency), critical_path_us, flops, bytes, kernels, peak_bytes (memory)",
        word));
  }

  Status number() {
    double value = 0;
    const auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (problem != std::errc()) return error("not a number");
    at_ = static_cast<size_t>(end - text_.data());
    push({.kind = Step::Number, .number = value});
    return {};
  }

  const std::string_view text_;
  size_t at_ = 0;
  size_t height_ = 0;
  int nested_ = 0;
  MetricExpression out_;
};

Result<MetricExpression> MetricExpression::parse(std::string_view text) { return MetricParser(text).parse(); }

double MetricExpression::operator()(const Metrics& metrics) const {
  std::vector<double> stack;
  stack.reserve(depth_);
  for (const Step& step : steps_) {
    switch (step.kind) {
      case Step::Number:
        stack.push_back(step.number);
        continue;
      case Step::Metric:
        stack.push_back(metrics.*step.metric);
        continue;
      case Step::Negate:
        stack.back() = -stack.back();
        continue;
      default:
        break;
    }
    const double right = stack.back();
    stack.pop_back();
    double& left = stack.back();
    if (step.kind == Step::Plus) left += right;
    if (step.kind == Step::Minus) left -= right;
    if (step.kind == Step::Times) left *= right;
    if (step.kind == Step::Over) left /= right;
  }
  return stack.back();
}

bool MetricExpression::reads_any() const {
  return std::ranges::any_of(steps_, [](const Step& step) { return step.kind == Step::Metric; });
}

bool MetricExpression::reads(double Metrics::*metric) const {
  return std::ranges::any_of(steps_,
                             [&](const Step& step) { return step.kind == Step::Metric && step.metric == metric; });
}

namespace {

/// Rejects expressions that never have a finite value, such as 1/0, by evaluating one for ordinary metrics.
Status check_finite(const MetricExpression& expression, std::string_view text) {
  const Metrics some{.latency_us = 3.1415926535,
                     .flops = 271828.1828,
                     .bytes = 141421.3562,
                     .kernels = 17.32050807,
                     .critical_path_us = 1.6180339887,
                     .peak_bytes = 57721.56649};
  if (!std::isfinite(expression(some))) return fail("'{}': has no finite value", text);
  return {};
}

}  // namespace

Result<Objective> Objective::parse(std::string_view text) {
  ISOMER_TRY(MetricExpression expression, MetricExpression::parse(text));
  ISOMER_CHECK(check_finite(expression, text));
  if (!expression.reads_any()) return fail("'{}': is the same for all graphs", text);
  return Objective(std::move(expression), std::string(text));
}

Status Objective::add_limit(std::string_view text) {
  const size_t at = text.find('=');
  if (at == 0 || at == std::string_view::npos || (text[at - 1] != '<' && text[at - 1] != '>'))
    return fail("'{}': a limit has the form 'peak_bytes <= 1000000'", text);
  ISOMER_TRY(MetricExpression left, MetricExpression::parse(text.substr(0, at - 1)));
  ISOMER_TRY(MetricExpression right, MetricExpression::parse(text.substr(at + 1)));
  ISOMER_CHECK(check_finite(left, text));
  ISOMER_CHECK(check_finite(right, text));
  if (!left.reads_any() && !right.reads_any()) return fail("'{}': is the same for all graphs", text);
  if (text[at - 1] == '>') std::swap(left, right);
  limits_.push_back({std::move(left), std::move(right), std::string(text)});
  return {};
}

double Objective::operator()(const Metrics& metrics) const {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (!within_limits(metrics)) return kInfinite;
  const double value = expression_(metrics);
  if (!std::isfinite(value)) return kInfinite;
  return value;
}

double Objective::penalized(const Metrics& metrics) const {
  double excess = 0;  // sum over all limits, each relative to the limit
  for (const Limit& limit : limits_) {
    const double small = limit.small(metrics);
    const double large = limit.large(metrics);
    if (!(small <= large)) excess += (small - large) / std::max(std::abs(large), 1e-9);
  }
  if (within_limits(metrics)) return (*this)(metrics);
  return std::isfinite(excess) ? kBeyondLimits * (1 + excess) : std::numeric_limits<double>::infinity();
}

bool Objective::within_limits(const Metrics& metrics) const {
  return std::ranges::all_of(limits_, [&](const Limit& limit) { return limit.small(metrics) <= limit.large(metrics); });
}

std::string Objective::exceeded(const Metrics& metrics) const {
  std::vector<std::string> out;
  for (const Limit& limit : limits_) {
    const double small = limit.small(metrics);
    const double large = limit.large(metrics);
    if (small <= large) continue;
    if (limit.text.find('<') != std::string::npos)
      out.push_back(fmt::format("{}: {:.15g} > {:.15g}", limit.text, small, large));
    else
      out.push_back(fmt::format("{}: {:.15g} < {:.15g}", limit.text, large, small));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

bool Objective::reads(double Metrics::*metric) const {
  return expression_.reads(metric) || std::ranges::any_of(limits_, [&](const Limit& limit) {
           return limit.small.reads(metric) || limit.large.reads(metric);
         });
}

std::vector<std::string> Objective::limits() const {
  std::vector<std::string> out;
  for (const Limit& limit : limits_) out.push_back(limit.text);
  return out;
}

}  // namespace isomer
