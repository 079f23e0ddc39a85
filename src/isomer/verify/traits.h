#pragma once
// What makes an instance more than trivial, and whether a set of instances has enough of it.

#include <optional>
#include <set>
#include <string>

#include "isomer/verify/instances.h"

namespace isomer {

/// Names of what an instance shows: "x wide" where all extents of ?x (of every @x) are more than 1; "Conv group" where
/// an attribute does something (other than its preset, not all ones or zeros, no identity permutation); "Conv pads
/// uneven" where it differs between front and back, "Concat axis < 0" where it counts from the back.
using Traits = std::set<std::string>;
Traits traits_of(const Instance& instance);

/// What many instances show.
class ShownTraits {
 public:
  void add(const Traits& traits);
  /// Two traits (or one, twice) that an instance of `other` has at once and none of these.
  std::optional<std::pair<std::string, std::string>> lacks(const ShownTraits& other) const;
  /// The most that one instance has, the first in order of equals.
  Traits most() const;

 private:
  std::set<Traits> sets_;
  std::set<std::pair<std::string, std::string>> pairs_;
};

}  // namespace isomer
