#pragma once
// Repeats what a search recorded, and checks every step of it.

#include <functional>
#include <map>

#include "isomer/certificate/fold.h"
#include "isomer/certificate/instance.h"
#include "isomer/rules/rule.h"

namespace isomer::replay {

/// The rules that a derivation may use, by name. Whether they are true is decided elsewhere (rules/lock.h).
using RuleBook = std::map<std::string, Rule>;

/// Counts of what was replayed, including parts.
struct Tally {
  size_t moves = 0;
  size_t applications = 0;
  size_t parts = 0;
  size_t constants = 0;  ///< folded
};

/// Called for every application after it was checked to be an instance of its rule.
using Watch = std::function<void(const Graph& graph, const Instance& instance)>;

/// Returns the elements of a value that depends only on constants, by its value hash, if they need not be computed and
/// checked again; else an empty tensor.
using KnownConstants = std::function<Tensor(uint64_t value_hash)>;

/// Returns the graph that the moves lead to from `start`. The Error names the first invalid move and the reason: a
/// graph has another hash before or after, an application is not an instance of its rule (check_instance), a target
/// cannot be inserted (replace), a constant has another value or cannot be stored (Computed::check), or a part is
/// invalid. `own` are the weights of the model that `start` is derived from; nullptr: `start` is the model's graph.
/// In the replay of a certificate, nothing is `known`.
Result<Graph> replay_moves(const Graph& start, std::span<const Move> moves, const RuleBook& rules, Tally& tally,
                           const Watch& watch = {}, const OwnWeights* own = nullptr, const KnownConstants& known = {});

/// Returns the number of moves and applications, including parts.
Tally tally_of(std::span<const Move> moves);

}  // namespace isomer::replay
