#pragma once
// Two small graphs over the same inputs that probably compute the same: a substitution without a direction.

#include <string>

#include "isomer/discover/enumerate.h"
#include "isomer/discover/input_kinds.h"

namespace isomer {

/// A node of a TermPair; both graphs share common nodes.
struct PairNode {
  enum class Kind : uint8_t { Input, Constant, Apply };
  static constexpr uint32_t kNone = UINT32_MAX;
  Kind kind = Kind::Input;
  uint32_t op = 0;      ///< Apply: operator of the universe. Constant: input of the universe
  uint32_t result = 0;  ///< Apply: which result
  uint32_t a = kNone;   ///< Apply: operands, nodes before this one
  uint32_t b = kNone;
  KindId input = 0;  ///< Input: its kind
  friend bool operator==(const PairNode&, const PairNode&) = default;
};

struct TermPair {
  std::vector<PairNode> nodes;
  std::vector<uint32_t> left;  ///< outputs; those of `right` equal them, in order
  std::vector<uint32_t> right;

  /// Returns the number of operators of one side, as a tree: a node that is used twice counts twice.
  size_t tree_size(std::span<const uint32_t> roots) const;
  size_t num_inputs() const;
  /// Returns for each node whether an output needs it.
  std::vector<bool> needed(std::span<const uint32_t> roots) const;
  /// Returns the pair without nodes that no output needs.
  TermPair compact() const;
};

/// Returns the graphs of two terms of a bank.
TermPair expand(const TermBank& bank, const EqualTerms& terms);

/// A variant of a universe in which pairs are evaluated.
struct PairContext {
  TypeTable& types;  ///< compiles operators for new extents
  const InputKinds& kinds;
  size_t variant = 0;
};

/// Types and values of all nodes.
struct PairValues {
  std::vector<TypeId> types;
  std::vector<std::vector<Fp>> values;
};

/// A seed with this bit draws inputs in which half of the elements are 0: there x / x is not 1.
constexpr uint64_t kSparseSeed = uint64_t{1} << 63;

/// Evaluates on random inputs; returns nothing if an operator does not accept its operands.
std::optional<PairValues> evaluate(const TermPair& pair, const PairContext& context, uint64_t seed);

/// The extents of all nodes, by variant of the universe and node.
using PairDims = std::vector<std::vector<Ints>>;
/// Returns nothing if an operator does not accept its operands in some variant.
std::optional<PairDims> dims_of(const TermPair& pair, std::span<const PairContext> variants);

/// Returns whether both sides are equal, including extents, on inputs drawn with each of these seeds.
bool holds(const TermPair& pair, const PairContext& context, std::span<const uint64_t> seeds);

/// Returns a key that is equal for pairs that only differ in the names of inputs, the order of operands of commutative
/// operators, and the order of the sides.
std::string pair_key(const TermPair& pair, const Universe& universe);

/// Returns the most general pair of which this one is an instance: common subgraphs of both sides are replaced by new
/// inputs (dissertation, section 2.5, the first form of common subgraphs).
TermPair without_common_subgraphs(TermPair pair, std::span<const PairContext> variants, InputKinds& kinds);

/// Returns "(Add ?a ?b) = (Add ?b ?a)", for people.
std::string pair_text(const TermPair& pair, const Universe& universe);

}  // namespace isomer
