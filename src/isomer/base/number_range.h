#pragma once
// Which numbers an option takes: one check for the command line, C, C++ and Python.

#include <cstdint>
#include <limits>
#include <string>

#include "isomer/base/result.h"

namespace isomer {

/// Finite numbers between two bounds. NaN and infinity are never among them.
struct NumberRange {
  double least;
  double most = std::numeric_limits<double>::max();
  bool open = false;  ///< `least` itself is not among them

  /// "a number from 0 to 3600", "a finite number of at least 1", "a finite number above 0".
  std::string str() const;
  /// An Error says what the number must be.
  Status check(double value) const;
};

/// Integers between two bounds, both among them.
struct IntegerRange {
  int64_t least;
  int64_t most = INT64_MAX;

  /// "an integer from 1 to 1024".
  std::string str() const;
  /// An Error says what the number must be.
  Status check(int64_t value) const;
};

}  // namespace isomer
