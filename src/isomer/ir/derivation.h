#pragma once
// How one graph was made of another, as data: what a search records and a replayer checks. Nothing in here refers to
// the process: values go by their content hashes (Graph::value_hash), which are the same in every graph that is built
// anew from the same model, whatever order its nodes have.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace isomer {

/// A rule at one place of a graph. An absent optional operand has the hash 0.
struct Application {
  std::string rule;             ///< its name
  std::vector<uint64_t> roots;  ///< the values that the targets replace, in the order of the targets
  std::vector<std::pair<std::string, uint64_t>> values;                  ///< what each ?x stands for
  std::vector<std::pair<std::string, std::vector<uint64_t>>> sequences;  ///< what each @x stands for
  /// Variables of attributes and free parameters ("?a") and records of attributes ("..c") with what they are, printed:
  /// "3", "[1,2]", "{group=2}".
  std::vector<std::pair<std::string, std::string>> attributes;

  friend bool operator==(const Application&, const Application&) = default;
};

struct Move;

/// A part of a graph that was taken out, rewritten by itself and put back. It is the graph over `inputs` whose outputs
/// are `outputs` (values of the whole before the move).
struct PartRewrite {
  std::vector<uint64_t> inputs;
  std::vector<uint64_t> outputs;
  std::vector<Move> moves;

  friend bool operator==(const PartRewrite&, const PartRewrite&) = default;
};

/// What leads from one graph to the next, all of it at once: every hash is of a value of the graph before.
struct Move {
  uint64_t before = 0;  ///< Graph::hash
  uint64_t after = 0;
  std::vector<Application> applications;
  std::vector<PartRewrite> parts;
  /// Folding: values that depend on constants alone, and the hashes of the tensors that take their place.
  std::vector<std::pair<uint64_t, uint64_t>> constants;

  friend bool operator==(const Move&, const Move&) = default;
};

/// Weights that no rewrite may make, by value hash, with the reason (runtime/reference/weight_check.h).
using RefusedWeights = std::map<uint64_t, std::string>;

}  // namespace isomer
