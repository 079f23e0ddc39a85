#pragma once
// Determines which features of an instance are not trivial, and whether a set of instances has enough of them.

#include <optional>
#include <set>
#include <string>

#include "isomer/check/instances.h"

namespace isomer {

/// Names of the features of an instance: "x wide" if all extents of ?x (of every @x) are more than 1; "Conv group" if
/// an attribute has an effect (it differs from its preset and is not all ones or zeros or an identity permutation);
/// "Conv pads uneven" if it differs between front and back; "Concat axis < 0" if it counts from the back.
using Features = std::set<std::string>;
Features features_of(const Instance& instance);

/// The features of many instances.
class ShownFeatures {
 public:
  void add(const Features& features);
  /// Returns two features (or one, twice) that an instance of `other` has together and none of these has.
  std::optional<std::pair<std::string, std::string>> lacks(const ShownFeatures& other) const;
  /// Returns the features of the instance with the largest number of them; of several, the first in order.
  Features largest() const;

 private:
  std::set<Features> sets_;
  std::set<std::pair<std::string, std::string>> pairs_;
};

}  // namespace isomer
