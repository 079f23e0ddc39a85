#pragma once
// The valid numbers of an option, checked in the same way for the command line, C, C++ and Python.

#include <cstdint>
#include <limits>
#include <string>

#include "isomer/base/result.h"

namespace isomer {

/// The finite numbers between two bounds. NaN and infinity are never valid.
struct NumberRange {
  double min;
  double max = std::numeric_limits<double>::max();
  bool open = false;  ///< excludes `min` itself

  /// The range in words: "a number from 0 to 3600", "a finite number of at least 1", "a finite number above 0".
  std::string str() const;
  /// Fails if the value is not in the range. The Error says what the number must be.
  Status check(double value) const;
};

/// The integers between two bounds, inclusive.
struct IntegerRange {
  int64_t min;
  int64_t max = INT64_MAX;

  /// The range in words: "an integer from 1 to 1024".
  std::string str() const;
  /// Fails if the value is not in the range. The Error says what the number must be.
  Status check(int64_t value) const;
};

}  // namespace isomer
