#pragma once
// The derivation of one graph from another, as data that a search records and a replayer checks. It does not refer to
// the process: values are identified by their content hashes (Graph::value_hash). These are the same in every graph
// that is built from the same model, whatever the order of its nodes.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace isomer {

/// A rule at one place of a graph. An absent optional operand has the hash 0.
struct Application {
  std::string rule;             ///< name of the rule
  std::vector<uint64_t> roots;  ///< the values that the targets replace, in the order of the targets
  std::vector<std::pair<std::string, uint64_t>> values;                  ///< the value of each ?x
  std::vector<std::pair<std::string, std::vector<uint64_t>>> sequences;  ///< the values of each @x
  /// Variables of attributes and free parameters ("?a") and records of attributes ("..c") with their printed values:
  /// "3", "[1,2]", "{group=2}".
  std::vector<std::pair<std::string, std::string>> attributes;

  friend bool operator==(const Application&, const Application&) = default;
};

struct Move;

/// A part of a graph that was extracted, rewritten separately and put back. It is the graph over `inputs` whose outputs
/// are `outputs` (values of the whole graph before the move).
struct PartRewrite {
  std::vector<uint64_t> inputs;
  std::vector<uint64_t> outputs;
  std::vector<Move> moves;

  friend bool operator==(const PartRewrite&, const PartRewrite&) = default;
};

/// One step from a graph to the next. Everything is applied at once: all hashes are of values of the graph before.
struct Move {
  uint64_t before = 0;  ///< Graph::hash
  uint64_t after = 0;
  std::vector<Application> applications;
  std::vector<PartRewrite> parts;
  /// Folding: values that depend only on constants, and the hashes of the tensors that replace them.
  std::vector<std::pair<uint64_t, uint64_t>> constants;

  friend bool operator==(const Move&, const Move&) = default;
};

/// The next run of a training step gets the output new/NAME as the input NAME.
constexpr const char* kNewValue = "new/";

/// An input of the output model that holds several inputs of the input model, joined along an axis. The new value of
/// each, and that of the whole, are the outputs that are named after them.
struct MergedInput {
  int64_t axis = 0;
  std::string input = {};
  std::vector<std::string> parts = {};  ///< inputs, along the axis

  friend bool operator==(const MergedInput&, const MergedInput&) = default;
};

/// Weights that no rewrite may create, by value hash, with the reason (eval/weight_check.h).
using RefusedWeights = std::map<uint64_t, std::string>;

}  // namespace isomer
