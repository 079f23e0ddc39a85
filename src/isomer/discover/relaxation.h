#pragma once
// Ways to make a rule apply to more: free attributes, any axis, any rank, any element type.

#include <functional>
#include <optional>
#include <vector>

#include "isomer/rules/rule.h"

namespace isomer {

/// A change that asks for less. Gives nothing where there is nothing to change. It may well make the rule false: what
/// comes out is for the checker to judge.
using Relaxation = std::function<std::optional<Rule>(const Rule&)>;

/// The attribute `name` of an operator of the source, where it is the same number or text in all of its nodes, becomes
/// a part of a record `..r`; so do its equals in the target, also those of other operators, and numbers like 0.001.
Relaxation free_attribute(const OpDef& op, const std::string& name);
/// The integers `name=[..]` of an operator, the same in all of its nodes of the source, become any; those in the target
/// are as much more as they were. They are called `variable`.
Relaxation shift_attribute(const OpDef& op, const std::string& name, const std::string& variable);
/// The window of a pool becomes any, and what the target says of it by numbers: shapes that end so, and its size.
Relaxation free_window(const OpDef& op);
/// `axis=k` becomes `axis=?k`, which may be any axis; so do extents along axis k.
Relaxation free_axis(int64_t axis);
/// `axis=k`, with operands of known rank, is counted from the back.
Relaxation axis_from_back(int64_t axis);
/// A permutation that turns the last two axes around does so for any rank.
Relaxation turn_from_back();
/// A list of all extents of an input is its shape.
Relaxation whole_shapes();
/// `rank(?v) == r` becomes `rank(?v) >= r`, or is dropped.
Relaxation widen_rank(const std::string& variable);
Relaxation drop_rank(const std::string& variable);
/// `real(?x)` is dropped.
Relaxation drop_real();

/// All that may be tried with a rule whose ranks are fixed by conditions `rank(?v) == r`, in a fixed order: with axes
/// and permutations free, with them counted from the back, with them kept, with
/// them kept for kernels without dilations, and with the first two.
struct RelaxationPlans {
  std::vector<Relaxation> free;
  std::vector<Relaxation> from_back;
  std::vector<Relaxation> kept;
  std::vector<Relaxation> plain;
  std::vector<Relaxation> all;
};
RelaxationPlans relaxations(const Rule& rule);

}  // namespace isomer
