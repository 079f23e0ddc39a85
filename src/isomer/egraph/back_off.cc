#include "isomer/egraph/back_off.h"

#include <algorithm>

namespace isomer {

void BackOff::ban(size_t rule, size_t iteration) {
  constexpr size_t kMaxBans = 16;  // doubling must not overflow
  State& state = rules_[rule];
  state.banned_until = iteration + 1 + (ban_ << state.bans);
  state.bans = std::min(state.bans + 1, kMaxBans);
}

bool BackOff::release(size_t iteration) {
  size_t first = 0;
  for (const State& state : rules_)
    if (state.banned_until > iteration && (first == 0 || state.banned_until < first)) first = state.banned_until;
  for (State& state : rules_)
    if (state.banned_until == first) state.banned_until = 0;
  return first != 0;
}

}  // namespace isomer
