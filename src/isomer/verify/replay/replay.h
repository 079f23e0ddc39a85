#pragma once
// Doing again what a search recorded, and checking every step of it.

#include <functional>
#include <map>

#include "isomer/rules/rule.h"
#include "isomer/verify/replay/fold.h"
#include "isomer/verify/replay/instance.h"

namespace isomer::replay {

/// The rules that a derivation may use, by name. Whether they are true is another question (verify/lock.h).
using RuleBook = std::map<std::string, Rule>;

/// What was replayed, parts included.
struct Tally {
  size_t moves = 0;
  size_t applications = 0;
  size_t parts = 0;
  size_t constants = 0;  ///< folded
};

/// Told of every application, once it is known to be an instance of its rule.
using Watch = std::function<void(const Graph& graph, const Instance& instance)>;

/// The graph that the moves lead to from `start`. An Error names the move that is not what it says, and why: a graph
/// with another hash before or after, an application that is no instance of its rule (check_instance), a target that
/// cannot stand there (replace), a constant that comes out otherwise or cannot be stored (Computed::check), a part that
/// is none. `own` are the weights of the model that `start` comes of; null: it is the model's graph.
Result<Graph> replay_moves(const Graph& start, std::span<const Move> moves, const RuleBook& rules, Tally& tally,
                           const Watch& watch = {}, const OwnWeights* own = nullptr);

/// How many moves and applications there are, parts included.
Tally tally_of(std::span<const Move> moves);

}  // namespace isomer::replay
