#pragma once
// Schedules rules during saturation: a rule with too many matches is banned for a while, and later may have more (egg's
// back-off scheduler, Willsey et al., POPL 2021, section 5.1). So rules that match everywhere do not keep the others
// from being applied.

#include <cstddef>
#include <vector>

namespace isomer {

class BackOff {
 public:
  /// `max_matches`: matches that a rule may have in one iteration; `ban`: iterations of its first ban. Both double with
  /// each ban.
  BackOff(size_t rules, size_t max_matches, size_t ban) : rules_(rules), max_matches_(max_matches), ban_(ban) {}

  bool banned(size_t rule, size_t iteration) const { return iteration < rules_[rule].banned_until; }
  /// Returns the number of matches that a rule may have now.
  size_t max_matches(size_t rule) const { return max_matches_ << rules_[rule].bans; }
  /// Bans a rule that has more matches, from the iteration after this one on.
  void ban(size_t rule, size_t iteration);
  /// Ends the bans of the rules that are free again first. Returns false if no rule is banned in or after this
  /// iteration.
  bool release(size_t iteration);

 private:
  struct State {
    size_t bans = 0;
    size_t banned_until = 0;  // the first iteration in which it is free
  };

  std::vector<State> rules_;
  const size_t max_matches_;
  const size_t ban_;
};

}  // namespace isomer
