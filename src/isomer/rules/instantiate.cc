#include "isomer/rules/instantiate.h"

namespace isomer {
namespace {

Result<Tensor> scalar_literal(double value, DType element) {
  ISOMER_TRY(const AttrValue attr, to_attr(value, AttrKind::Tensor, element));
  return std::get<Tensor>(attr).reshaped({});
}

/// Builds terms from a binding.
class Instantiation {
 public:
  Instantiation(TermBuilder& builder, Binding binding, DType element)
      : builder_(builder), binding_(std::move(binding)), element_(element) {}

  Result<std::vector<ValueId>> targets(const Rule& rule) {
    for (const Let& let : rule.lets) {
      ISOMER_TRY(std::vector<ValueId> values, list(let.term));
      if (let.sequence)
        binding_.sequences.emplace_back(let.name, std::move(values));
      else if (values.size() == 1)
        binding_.values.emplace_back(let.name, values[0]);
      else
        return fail("?{} would be {} values", let.name, values.size());
    }
    return all(rule.targets);
  }

  Result<std::vector<ValueId>> all(const std::vector<Term>& terms) {
    std::vector<ValueId> out;
    for (const Term& term : terms) {
      ISOMER_TRY(const std::vector<ValueId> values, list(term));
      out.insert(out.end(), values.begin(), values.end());
    }
    return out;
  }

 private:
  /// The values of a term. For a repeated term, those of all repetitions.
  Result<std::vector<ValueId>> list(const Term& term) {
    if (!term.repeated) return once(term);
    ISOMER_TRY(const size_t n, length(term));
    std::vector<ValueId> out;
    const auto outer = repetition_;
    for (size_t i = 0; i < n; ++i) {
      repetition_ = i;
      ISOMER_TRY(const std::vector<ValueId> values, once(term));
      out.insert(out.end(), values.begin(), values.end());
    }
    repetition_ = outer;
    return out;
  }

  /// The number of repetitions of a repeated term: the common length of its sequences.
  Result<size_t> length(const Term& term) const {
    std::optional<size_t> n;
    std::vector<const Term*> pending{&term};
    while (!pending.empty()) {
      const Term* next = pending.back();
      pending.pop_back();
      for (const Term& operand : next->operands) pending.push_back(&operand);
      if (next->kind != Term::Kind::Sequence) continue;
      const auto* values = binding_.sequence(next->name);
      if (values == nullptr) return fail("@{} is not bound", next->name);
      if (n && *n != values->size()) return fail("sequences of different lengths are repeated together");
      n = values->size();
    }
    if (!n) return fail("a repeated term without a sequence");
    return *n;
  }

  Result<std::vector<ValueId>> once(const Term& term) {
    switch (term.kind) {
      case Term::Kind::Value: {
        const ValueId* value = binding_.value(term.name);
        if (value == nullptr) return fail("?{} is not bound", term.name);
        return std::vector<ValueId>{*value};
      }
      case Term::Kind::Sequence: {
        const auto* values = binding_.sequence(term.name);
        if (values == nullptr) return fail("@{} is not bound", term.name);
        if (!repetition_) return *values;
        if (*repetition_ >= values->size()) return fail("@{} is too short", term.name);
        return std::vector<ValueId>{(*values)[*repetition_]};
      }
      case Term::Kind::Literal: {
        if (const ValueId* bound = binding_.value(term.name)) return std::vector<ValueId>{*bound};
        ISOMER_TRY(Tensor tensor, scalar_literal(term.literal, element_));
        return std::vector<ValueId>{builder_.make_constant(std::move(tensor))};
      }
      case Term::Kind::Integers: {
        ISOMER_TRY(const ExprValue value, evaluate(term.integers, ExprContext{binding_, builder_, repetition_}));
        ISOMER_TRY(const AttrValue list, to_attr(value, AttrKind::Ints, element_));
        const Ints& elements = std::get<Ints>(list);
        return std::vector<ValueId>{
            builder_.make_constant(Tensor::ints({static_cast<int64_t>(elements.size())}, elements))};
      }
      case Term::Kind::Apply:
        break;
    }
    return apply(term);
  }

  Result<std::vector<ValueId>> apply(const Term& term) {
    ISOMER_TRY(const std::vector<ValueId> operands, all(term.operands));
    Attrs attrs;
    if (!term.rest.empty()) {
      const Attrs* record = binding_.record(term.rest);
      if (record == nullptr) return fail("..{} is not bound", term.rest);
      attrs = *record;
    }
    for (const auto& [name, expr] : term.attrs) {
      ISOMER_TRY(const ExprValue value, evaluate(expr, ExprContext{binding_, builder_, repetition_}));
      auto attr = to_attr(value, term.op->find_attr(name)->kind, element_);
      if (!attr) return fail("attribute '{}' of {}: {}", name, term.op->name, attr.error().message);
      attrs = attrs.with(name, std::move(*attr));
    }
    return builder_.apply(*term.op, attrs, operands);
  }

  TermBuilder& builder_;
  Binding binding_;
  const DType element_;
  std::optional<size_t> repetition_;
};

}  // namespace

Result<std::vector<ValueId>> GraphTerms::apply(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands) {
  ISOMER_TRY(const NodeId id, builder_.node(op, attrs, operands));
  std::vector<ValueId> results;
  for (uint32_t r = 0; r < builder_.at(id).num_results; ++r) results.push_back(builder_.at(id).result(r));
  return results;
}

Result<std::vector<ValueId>> instantiate_targets(TermBuilder& builder, const Rule& rule, Binding binding,
                                                 DType element) {
  return Instantiation(builder, std::move(binding), element).targets(rule);
}

Result<std::vector<ValueId>> instantiate_targets(GraphBuilder& builder, const Rule& rule, Binding binding,
                                                 DType element) {
  GraphTerms terms(builder);
  return instantiate_targets(terms, rule, std::move(binding), element);
}

Result<std::vector<ValueId>> instantiate_sources(TermBuilder& builder, const Rule& rule, Binding binding,
                                                 DType element) {
  return Instantiation(builder, std::move(binding), element).all(rule.sources);
}

}  // namespace isomer
