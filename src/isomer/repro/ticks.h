#pragma once
// The range of an axis and the numbers that are written on it.

#include <string>
#include <vector>

namespace isomer {

class AxisScale {
 public:
  /// An axis that holds all values, of which there must be one. A linear axis begins at 0 if `from_zero`. A logarithmic
  /// one ends at powers of ten; it holds the positive values.
  AxisScale(const std::vector<double>& values, bool logarithmic, bool from_zero);

  /// The place of a value: 0 at the lower end, 1 at the upper one.
  double place(double value) const;
  /// Round numbers within the range.
  std::vector<double> ticks() const;
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  bool logarithmic_;
  double low_ = 0, high_ = 1, step_ = 1;
};

/// A number as an axis shows it: "0.05", "1000", "1e-06".
std::string tick_text(double number);

}  // namespace isomer
