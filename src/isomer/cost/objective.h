#pragma once
// What a search minimizes: an expression over the dimensions of a cost, and hard limits on them.

#include <string>
#include <string_view>
#include <vector>

#include "isomer/cost/cost_model.h"

namespace isomer {

/// An arithmetic expression such as `latency_us + 0.1 * kernels`: numbers, + - * /, parentheses, and the names
/// latency_us (or latency), flops, bytes, kernels, peak_bytes (or memory).
class MetricExpression {
 public:
  /// An Error says where the text goes wrong.
  static Result<MetricExpression> parse(std::string_view text);
  /// Not finite where the arithmetic is not (a division by zero).
  double operator()(const Metrics& metrics) const;
  /// Whether this dimension is in it.
  bool reads(double Metrics::*metric) const;
  /// Whether any dimension is in it.
  bool reads_any() const;

 private:
  friend class MetricParser;
  struct Step {
    enum Kind : uint8_t { Number, Metric, Plus, Minus, Times, Over, Negate } kind;
    double number = 0;
    double Metrics::*metric = nullptr;
  };
  std::vector<Step> steps_;  // in postfix order
  size_t depth_ = 0;         // most values on the stack at once
};

/// Guided costs from here on are of what exceeds a limit.
constexpr double kBeyondLimits = 1e30;

class Objective {
 public:
  /// The latency, without limits.
  Objective() : Objective(MetricExpression::parse("latency_us").value(), "latency_us") {}
  /// An Error where the text is no expression, has no finite value or does not depend on the graph.
  static Result<Objective> parse(std::string_view text);

  /// Adds a hard limit, `EXPRESSION <= EXPRESSION` (or >=).
  Status add_limit(std::string_view text);

  /// What to minimize; infinite where a limit is exceeded, and where the expression has no finite value.
  double operator()(const Metrics& metrics) const;
  /// As operator(), but finite beyond a limit: larger than anything within, and the larger the more is exceeded. A
  /// search that minimizes this finds its way from beyond the limits to within.
  double guided(const Metrics& metrics) const;
  bool within_limits(const Metrics& metrics) const;
  const std::string& text() const { return text_; }
  /// The limits as they were given.
  std::vector<std::string> limits() const;
  /// Whether it depends on the memory, by itself or by a limit.
  bool uses_memory() const;
  /// Whether it is the latency and nothing else, so that a run of the whole graph tells it.
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
