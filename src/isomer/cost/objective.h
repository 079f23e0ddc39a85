#pragma once
// The objective of a search: an expression over the dimensions of a cost, and hard limits on them.

#include <string>
#include <string_view>
#include <vector>

#include "isomer/cost/cost_model.h"

namespace isomer {

/// An arithmetic expression such as `latency_us + 0.1 * kernels`: numbers, + - * /, parentheses, and the names
/// latency_us (or latency), critical_path_us, flops, bytes, kernels, peak_bytes (or memory).
class MetricExpression {
 public:
  /// An Error gives the position of a syntax error.
  static Result<MetricExpression> parse(std::string_view text);
  /// Returns the value of the expression; not finite if the arithmetic is not (a division by zero).
  double operator()(const Metrics& metrics) const;
  /// Returns whether the expression contains this dimension.
  bool reads(double Metrics::*metric) const;
  /// Returns whether the expression contains any dimension.
  bool reads_any() const;

 private:
  friend class MetricParser;
  struct Step {
    enum Kind : uint8_t { Number, Metric, Plus, Minus, Times, Over, Negate } kind;
    double number = 0;
    double Metrics::*metric = nullptr;
  };
  std::vector<Step> steps_;  // in postfix order
  size_t depth_ = 0;         // maximum number of values on the stack
};

/// Penalized objectives (`penalized`) of this value or more mean that a limit is exceeded.
constexpr double kBeyondLimits = 1e30;

class Objective {
 public:
  /// The latency, without limits.
  Objective() : Objective(MetricExpression::parse("latency_us").value(), "latency_us") {}
  /// An Error if the text is not an expression, has no finite value, or does not depend on the graph.
  static Result<Objective> parse(std::string_view text);

  /// Adds a hard limit, `EXPRESSION <= EXPRESSION` (or >=).
  Status add_limit(std::string_view text);

  /// Returns the number to minimize; infinite if a limit is exceeded or the expression has no finite value.
  double operator()(const Metrics& metrics) const;
  /// Like operator(), but finite if a limit is exceeded: larger than any value within the limits, and larger the more
  /// is exceeded. A search that minimizes it gets from beyond the limits to within them.
  double penalized(const Metrics& metrics) const;
  bool within_limits(const Metrics& metrics) const;
  /// Returns the limits that are exceeded, with their sides: "peak_bytes <= 1000000: 1203456 > 1000000".
  std::string exceeded(const Metrics& metrics) const;
  const std::string& text() const { return text_; }
  /// The text of each limit.
  std::vector<std::string> limits() const;
  /// Returns whether the expression depends on this dimension.
  bool minimizes(double Metrics::*metric) const { return expression_.reads(metric); }
  /// Returns whether the expression or a limit depends on this dimension.
  bool reads(double Metrics::*metric) const;
  bool uses_memory() const { return reads(&Metrics::peak_bytes); }
  bool uses_paths() const { return reads(&Metrics::critical_path_us); }
  /// Returns whether the objective is exactly the latency, so that a run of the complete graph measures it.
  bool is_latency() const { return text_ == "latency_us" || text_ == "latency"; }

 private:
  struct Limit {
    MetricExpression small;
    MetricExpression large;
    std::string text;
  };
  Objective(MetricExpression expression, std::string text)
      : expression_(std::move(expression)), text_(std::move(text)) {}

  MetricExpression expression_;
  std::string text_;
  std::vector<Limit> limits_;
};

}  // namespace isomer
