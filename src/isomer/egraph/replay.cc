#include "isomer/egraph/replay.h"

#include <algorithm>
#include <set>

#include "isomer/base/rng.h"
#include "isomer/ir/builder.h"
#include "isomer/rules/rewrite.h"

namespace isomer {
namespace {

/// How the terms of a rule's sides are converted to graphs.
struct Form {
  bool cut;                   ///< terms that variables match become constants or inputs; if false, they are built
                              ///< completely
  bool weights = true;        ///< terms that represent any constant become constants; if false, inputs
  EClassId input = kUnbound;  ///< always an input, because the matcher ignores nodes that depend only on constants
};

/// Returns elements that nothing else has.
Tensor any_tensor(const TensorType& type, uint64_t seed) {
  Tensor out = Tensor::zeros(type.dtype, concrete(*type.shape).value_or(Ints{}));
  Rng rng(seed);
  if (type.dtype == DType::Double) {
    for (double& element : out.mutable_data<double>()) element = 0.5 + rng.uniform();
  } else {
    for (std::byte& byte : out.mutable_bytes()) byte = static_cast<std::byte>(rng.below(2));
  }
  return out;
}

/// The graphs of terms over the same inputs.
class LocalGraph {
 public:
  LocalGraph(const Derivation& derivation, const TermApplication& application, Form form)
      : terms_(derivation.terms()), form_(form) {
    if (form.cut) leaves_.insert(application.leaves.begin(), application.leaves.end());
    std::set<EClassId> seen;
    for (const auto* side : {&application.from, &application.to})
      for (const EClassId id : *side) find_leaves(id, seen);
  }

  Result<Graph> build(const std::vector<EClassId>& outputs) {
    builder_ = GraphBuilder();
    made_.clear();
    for (const EClassId leaf : leaves_) made_[leaf] = leaf_value(leaf);
    std::vector<ValueId> values;
    for (const EClassId id : outputs) {
      ISOMER_TRY(const ValueId value, value_of(id));
      values.push_back(value);
    }
    return builder_.finish(values);
  }

 private:
  const TermLabel& label(EClassId id) const { return terms_.at(terms_.egraph().term(id).label); }

  void find_leaves(EClassId id, std::set<EClassId>& seen) {
    if (!seen.insert(id).second || leaves_.contains(id)) return;
    const OpDef* op = label(id).op;
    if (op == nullptr || op == &input_op() || op == &constant_op()) leaves_.insert(id);
    for (const EClassId child : terms_.egraph().term(id).children) find_leaves(child, seen);
  }

  ValueId leaf_value(EClassId id) {
    if (label(id).op == nullptr) return kNoValue;
    if (const Tensor* constant = terms_.constant(id)) return builder_.constant(*constant);
    if (terms_.is_weight(id) && form_.weights && id != form_.input)
      return builder_.constant(any_tensor(terms_.type(id), id + 1));
    return builder_.input(terms_.type(id));
  }

  Result<ValueId> value_of(EClassId id) {
    if (const auto known = made_.find(id); known != made_.end()) return known->second;
    const ENode& node = terms_.egraph().term(id);
    std::vector<ValueId> operands;
    for (const EClassId child : node.children) {
      ISOMER_TRY(const ValueId operand, value_of(child));
      operands.push_back(operand);
    }
    ISOMER_TRY(const NodeId made, builder_.node(*label(id).op, label(id).attrs, operands, label(id).results));
    return made_[id] = builder_.at(made).result(label(id).result);
  }

  const TermGraph& terms_;
  const Form form_;
  GraphBuilder builder_;
  std::set<EClassId> leaves_;
  std::map<EClassId, ValueId> made_;
};

/// Returns whether the rule, applied to the graph of its source side, produces that of its target side. If the
/// derivation treats every value as a weight, so does the matcher.
bool applies(const Derivation& derivation, const Rule& rule, const TermApplication& application, Form form) {
  LocalGraph local(derivation, application, form);
  const bool forward = application.direction->forward;
  const auto source = local.build(forward ? application.from : application.to);
  const auto target = local.build(forward ? application.to : application.from);
  if (!source || !target) return false;
  const std::vector<Match> matches =
      find_matches(*source, OpIndex(*source), rule, 1000, nullptr, derivation.terms().all_weights());
  return std::ranges::any_of(matches, [&](const Match& match) {
    const auto rewritten = apply_match(*source, match);
    return rewritten && rewritten->hash() == target->hash();
  });
}

bool applies(const Derivation& derivation, const Rule& rule, const TermApplication& application) {
  for (const bool cut : {true, false})
    if (applies(derivation, rule, application, Form{cut}) || applies(derivation, rule, application, Form{cut, false}))
      return true;
  return std::ranges::any_of(application.leaves, [&](EClassId leaf) {
    return derivation.terms().is_weight(leaf) && applies(derivation, rule, application, Form{true, true, leaf});
  });
}

/// Returns whether `after` is `before` with `old_part` replaced by `new_part` somewhere, and equal elsewhere.
bool differs_by(const ETerm& before, const ETerm& after, uint64_t old_part, uint64_t new_part) {
  if (before.hash == after.hash) return true;
  if (before.hash == old_part && after.hash == new_part) return true;
  if (before.label != after.label || before.children.size() != after.children.size()) return false;
  const auto same = [&](bool turned) {
    for (size_t i = 0; i < before.children.size(); ++i) {
      const size_t j = turned ? before.children.size() - 1 - i : i;
      if (!differs_by(*before.children[i], *after.children[j], old_part, new_part)) return false;
    }
    return true;
  };
  return same(false) || ((before.label & EGraph::kCommutative) != 0 && same(true));
}

}  // namespace

Status replay(const Derivation& derivation) {
  Explainer explainer(derivation.terms().egraph());
  const ETerm* before = derivation.start().get();
  for (size_t i = 0; i < derivation.chain().size(); ++i) {
    const ChainStep& step = derivation.chain()[i];
    const TermApplication& application = derivation.application(step.application);
    const Rule& rule = derivation.rule(step);
    const uint64_t from = explainer.term(application.from[step.root])->hash;
    const uint64_t to = explainer.term(application.to[step.root])->hash;
    if (!differs_by(*before, *step.after, step.from_to ? from : to, step.from_to ? to : from))
      return fail("step {}: {} does not lead from one term to the next", i + 1, rule.name);
    if (!applies(derivation, rule, application))
      return fail("step {}: {} does not make the new term of the old one", i + 1, rule.name);
    before = step.after.get();
  }
  return {};
}

}  // namespace isomer
