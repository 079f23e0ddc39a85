#pragma once
// The graphs that discovery enumerates: their inputs and operators, read from a text file.

#include <string>
#include <string_view>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/attrs.h"
#include "isomer/rules/rule.h"

namespace isomer {

/// An input of the graphs. Inputs of one group have the same extents and are interchangeable; each constant is a group
/// of its own.
struct UniverseInput {
  std::string name;  // without sigil
  Ints dims;
  size_t group = 0;
  /// For a constant: a term without variables.
  std::optional<Term> constant = std::nullopt;
};

/// Several inputs combined into one, so that an operator may have more than two: a matrix whose rows consist of one row
/// of every part. In rules, every part is a separate input.
struct Bundle {
  struct Part {
    std::string name;
    Ints dims;      // the first extent is that of the bundle
    int64_t begin;  // columns
    int64_t end;
  };
  std::vector<Part> parts;
  int64_t columns() const { return parts.back().end; }
};

/// An operator with fixed attributes: terms over one or two variables, one term per result, tried on operands that
/// satisfy the conditions. It counts as one operator, however many nodes the terms have.
struct UniverseOp {
  std::vector<Term> results;
  std::vector<Term> parts = {};       ///< of the result, if it is a bundle that is given part by part
  std::vector<std::string> operands;  ///< names of the variables, by first occurrence
  std::vector<Expr> conditions;
  /// f(x, y) and f(y, x) are the same match of a rule.
  bool commutative = false;
};

struct Universe {
  /// Default for the maximum number of operators of a graph.
  size_t explore = 3;
  std::vector<UniverseInput> inputs;
  std::vector<Bundle> bundles = {};
  std::vector<UniverseOp> ops;
};

/// A part of a bundle, by indices.
struct PartId {
  size_t bundle;
  size_t part;
  friend bool operator==(const PartId&, const PartId&) = default;
};

/// Returns the part that a term takes out of a bundle, which is its innermost operand.
std::optional<PartId> part_taken(const Universe& universe, const Term& term);

/// Reads a universe, a line each:
///     let N = 3, 5                                          sizes by name, for each variant
///     explore 3                                             graphs of up to 3 operators, if nothing else is asked for
///     inputs ?a ?b [3, 3]                                   interchangeable inputs of these extents
///     bundle ?p ?q kernel [4, 3, 1, 1] bias [4]             interchangeable bundles; ?p.bias in an operator is a part
///     constant ?one (TERM)                                  a constant
///     operator (Add ?x ?y) where shape(?x) == shape(?y)     the conditions are those of rules
///     operator for S in 1, 2 for P in 0, 1 (TERM)           four operators, with these numbers for S and P
///     operator (TERM), (TERM)                               an operator with two results
///     operator kernel: (TERM), bias: (TERM)                 an operator whose result is a bundle
/// `#` starts a comment. Fails with the number of the line that is not understood.
///
/// Variants of a universe differ only in the sizes, so that an equality found in one can be tried in the others.
Result<Universe> parse_universe(std::string_view text, size_t variant = 0);
/// Returns the number of sizes in the `let` lines; 1 if there are none. Fails if the lines have different numbers of
/// sizes.
Result<size_t> universe_variants(std::string_view text);

}  // namespace isomer
