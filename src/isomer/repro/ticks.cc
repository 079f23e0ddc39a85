#include "isomer/repro/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isomer {
namespace {

/// 1, 2 or 5 times a power of ten, so that the range has about five steps.
double round_step(double range) {
  const double rough = range / 5;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * power * (1 + 1e-9)) return factor * power;
  return 10 * power;
}

}  // namespace

AxisScale::AxisScale(const std::vector<double>& values, bool logarithmic, bool from_zero) : logarithmic_(logarithmic) {
  low_ = *std::ranges::min_element(values);
  high_ = *std::ranges::max_element(values);
  if (logarithmic) {
    const auto positive = [](double value) { return std::max(value, 1e-6); };
    low_ = std::pow(10.0, std::floor(std::log10(positive(low_)) + 1e-9));
    high_ = std::pow(10.0, std::ceil(std::log10(positive(high_)) - 1e-9));
    if (high_ <= low_) high_ = 10 * low_;
    return;
  }
  if (from_zero) low_ = std::min(low_, 0.0);
  if (high_ <= low_) high_ = low_ + 1;
  step_ = round_step(high_ - low_);
  low_ = step_ * std::floor(low_ / step_ + 1e-9);
  high_ = step_ * std::ceil(high_ / step_ - 1e-9);
}

double AxisScale::place(double value) const {
  if (!logarithmic_) return (value - low_) / (high_ - low_);
  return std::log10(std::max(value, low_) / low_) / std::log10(high_ / low_);
}

std::vector<double> AxisScale::ticks() const {
  std::vector<double> out;
  if (logarithmic_) {
    const auto powers = static_cast<int>(std::lround(std::log10(high_ / low_)));
    for (int i = 0; i <= powers; ++i) out.push_back(low_ * std::pow(10.0, i));
    return out;
  }
  const auto count = static_cast<int>(std::lround((high_ - low_) / step_));
  for (int i = 0; i <= count; ++i) out.push_back(low_ + i * step_);
  return out;
}

std::string tick_text(double number) { return fmt::format("{:.6g}", std::abs(number) < 1e-12 ? 0.0 : number); }

}  // namespace isomer
