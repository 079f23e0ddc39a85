#pragma once
// Relaxations: ways to make a rule apply to more graphs, by free attributes, any axis, any rank or any element type.

#include <functional>
#include <optional>
#include <vector>

#include "isomer/rules/rule.h"

namespace isomer {

/// A change that requires less. Returns nothing if there is nothing to change. It may make the rule false: the checker
/// decides.
using Relaxation = std::function<std::optional<Rule>(const Rule&)>;

/// The attribute `name` of an operator of the source, if it is the same number or text in all of its nodes, becomes a
/// part of a record `..r`. So do equal attributes in the target (also those of other operators), and numbers like
/// 0.001.
Relaxation free_attribute(const OpDef& op, const std::string& name);
/// The integers `name=[..]` of an operator, the same in all of its nodes of the source, become a free list called
/// `variable`. Those in the target keep their difference from it.
Relaxation shift_attribute(const OpDef& op, const std::string& name, const std::string& variable);
/// The window of a pool becomes free, and with it the numbers in the target that depend on it: shapes that end with the
/// window, and its size.
Relaxation free_window(const OpDef& op);
/// `axis=k` becomes `axis=?k`, which may be any axis; so do extents along axis k.
Relaxation free_axis(int64_t axis);
/// `axis=k`, with operands of known rank, is counted from the back.
Relaxation axis_from_back(int64_t axis);
/// A permutation that swaps the last two axes does so for any rank.
Relaxation turn_from_back();
/// A list of all extents of an input becomes its shape.
Relaxation whole_shapes();
/// `rank(?v) == r` becomes `rank(?v) >= r`, or is dropped.
Relaxation widen_rank(const std::string& variable);
Relaxation drop_rank(const std::string& variable);
/// `real(?x)` is dropped.
Relaxation drop_real();

/// All relaxations to try with a rule whose ranks are fixed by conditions `rank(?v) == r`, in a fixed order: with axes
/// and permutations free, with them counted from the back, with them kept, with them kept for kernels without
/// dilations, and with the first two.
struct RelaxationPlans {
  std::vector<Relaxation> free;
  std::vector<Relaxation> from_back;
  std::vector<Relaxation> kept;
  std::vector<Relaxation> plain;
  std::vector<Relaxation> all;
};
RelaxationPlans relaxations(const Rule& rule);

}  // namespace isomer
