#pragma once
// Two small graphs over the same inputs that are thought to compute the same: a substitution without a direction.

#include <string>

#include "isomer/discover/enumerate.h"
#include "isomer/discover/input_kinds.h"

namespace isomer {

/// A node of a TermPair; both graphs share what they have in common.
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
  std::vector<uint32_t> left;  ///< outputs; those of `right` compute the same, in order
  std::vector<uint32_t> right;

  /// Operators of one side; the results of one node count once.
  size_t size(std::span<const uint32_t> roots) const;
  /// The same, but what is used twice counts twice.
  size_t tree_size(std::span<const uint32_t> roots) const;
  size_t num_inputs() const;
  /// Nodes that some output needs, ascending.
  std::vector<bool> needed(std::span<const uint32_t> roots) const;
  /// Without nodes that no output needs.
  TermPair compact() const;
};

/// The graphs of two terms of a bank.
TermPair expand(const TermBank& bank, const EqualTerms& terms);

/// One variant of a universe to evaluate pairs in.
struct PairContext {
  TypeTable& types;  ///< compiles operators for extents that it has not met
  const InputKinds& kinds;
  size_t variant = 0;
};

/// Types and values of all nodes.
struct PairValues {
  std::vector<TypeId> types;
  std::vector<std::vector<Fp>> values;
};

/// A seed with this bit draws inputs half of whose elements are 0: x / x is 1 only elsewhere.
constexpr uint64_t kSparseSeed = uint64_t{1} << 63;

/// On random inputs; nothing when an operator does not take its operands.
std::optional<PairValues> evaluate(const TermPair& pair, const PairContext& context, uint64_t seed);

/// Whether both sides are equal, extents too, on inputs drawn with each of these seeds.
bool holds(const TermPair& pair, const PairContext& context, std::span<const uint64_t> seeds);

/// Equal for pairs that differ in the names of inputs, the order of operands of commutative operators, and in which
/// side is the left one.
std::string pair_key(const TermPair& pair, const Universe& universe);

/// The most general pair that has this one as an instance by replacing what both sides compute from the inputs by new
/// inputs (dissertation, section 2.5, the first form of common subgraphs).
TermPair without_common_subgraphs(TermPair pair, std::span<const PairContext> variants, InputKinds& kinds);

/// "(Add ?a ?b) = (Add ?b ?a)", for readers.
std::string pair_text(const TermPair& pair, const Universe& universe);

}  // namespace isomer
