#include "isomer/certificate/target.h"

#include <deque>
#include <set>

namespace isomer::replay {
namespace {

void collect_read(const Term& term, std::set<std::string>& names) {
  if (term.kind == Term::Kind::Value) names.insert("?" + term.name);
  if (term.kind == Term::Kind::Sequence) names.insert("@" + term.name);
  for (const Term& operand : term.operands) collect_read(operand, names);
}

/// Returns the variables, with sigils, that the targets compute with, except those of which only the shape is used.
std::set<std::string> read_by_targets(const Rule& rule) {
  std::set<std::string> names;
  for (const Let& let : rule.lets) collect_read(let.term, names);
  for (const Term& target : rule.targets) collect_read(target, names);
  return names;
}

/// Builds the targets of one instance.
class Targets {
 public:
  Targets(GraphBuilder& builder, const Images& images, const Instance& instance, DType element)
      : builder_(builder), variables_(instance.variables), element_(element) {
    const auto image = [&](const Fact& fact) { return fact.id == kNoValue ? kNoValue : images[fact.id]; };
    for (const auto& [name, fact] : variables_.values) values_[name] = image(fact);
    for (const auto& [name, facts] : variables_.sequences) {
      std::vector<ValueId>& list = sequences_[name];  // present even if it is empty
      for (const Fact& fact : facts) list.push_back(image(fact));
    }
  }

  Result<std::vector<ValueId>> build(const Rule& rule) {
    for (const Let& let : rule.lets) {
      ISOMER_TRY(const std::vector<ValueId> made, copies(let.term));
      if (!let.sequence && made.size() != 1) return fail("?{} would be {} values", let.name, made.size());
      std::vector<Fact> facts;
      facts.reserve(made.size());
      for (const ValueId value : made) facts.push_back(fact(value));
      if (let.sequence) {
        sequences_[let.name] = made;
        variables_.sequences[let.name] = facts;
      } else {
        values_[let.name] = made[0];
        variables_.values[let.name] = facts[0];
      }
    }
    return all(rule.targets);
  }

 private:
  /// Returns the facts about a new value. Its type is stored here, since the builder may move its own.
  Fact fact(ValueId value) {
    types_.push_back(builder_.type(value));
    return {&types_.back(), builder_.constant_data(value), false, value};
  }

  Result<std::vector<ValueId>> all(const std::vector<Term>& terms) {
    std::vector<ValueId> out;
    for (const Term& term : terms) {
      ISOMER_TRY(const std::vector<ValueId> made, copies(term));
      out.insert(out.end(), made.begin(), made.end());
    }
    return out;
  }

  /// Builds a repeated term once for every element of its sequences.
  Result<std::vector<ValueId>> copies(const Term& term) {
    if (!term.repeated) return once(term);
    std::set<std::string> names;
    collect_read(term, names);
    std::set<size_t> lengths;
    for (const std::string& name : names)
      if (name[0] == '@') lengths.insert(sequences_[name.substr(1)].size());
    if (lengths.size() != 1) return fail("a repeated term has no length");
    const Repetition outer = repetition_;
    std::vector<ValueId> out;
    for (size_t i = 0; i < *lengths.begin(); ++i) {
      repetition_ = i;
      ISOMER_TRY(const std::vector<ValueId> made, once(term));
      out.insert(out.end(), made.begin(), made.end());
    }
    repetition_ = outer;
    return out;
  }

  Result<std::vector<ValueId>> once(const Term& term) {
    using Values = std::vector<ValueId>;
    switch (term.kind) {
      case Term::Kind::Value:
        if (!values_.contains(term.name)) return fail("?{} is not bound", term.name);
        return Values{values_.at(term.name)};
      case Term::Kind::Sequence: {
        if (!sequences_.contains(term.name)) return fail("@{} is not bound", term.name);
        const Values& all = sequences_.at(term.name);
        if (!repetition_) return all;
        if (*repetition_ >= all.size()) return fail("@{} is too short", term.name);
        return Values{all[*repetition_]};
      }
      case Term::Kind::Literal: {
        ISOMER_TRY(const AttrValue number, attribute_of(term.literal, AttrKind::Tensor, element_));
        return Values{builder_.constant(std::get<Tensor>(number).reshaped({}))};
      }
      case Term::Kind::Integers: {
        ISOMER_TRY(const Value list, evaluate(term.integers, variables_, repetition_));
        ISOMER_TRY(const AttrValue known, attribute_of(list, AttrKind::Ints, element_));
        const Ints& elements = std::get<Ints>(known);
        return Values{builder_.constant(Tensor::ints({static_cast<int64_t>(elements.size())}, elements))};
      }
      case Term::Kind::Apply:
        break;
    }
    return node(term);
  }

  Result<std::vector<ValueId>> node(const Term& term) {
    ISOMER_TRY(const std::vector<ValueId> operands, all(term.operands));
    Attrs attrs;
    if (!term.rest.empty()) {
      const auto record = variables_.records.find(term.rest);
      if (record == variables_.records.end()) return fail("..{} is not bound", term.rest);
      attrs = record->second;
    }
    for (const auto& [name, expr] : term.attrs) {
      ISOMER_TRY(const Value value, evaluate(expr, variables_, repetition_));
      ISOMER_TRY(AttrValue attribute, attribute_of(value, term.op->find_attr(name)->kind, element_));
      attrs = attrs.with(name, std::move(attribute));
    }
    ISOMER_TRY(const NodeId id, builder_.node(*term.op, attrs, operands));
    std::vector<ValueId> results;
    for (uint32_t r = 0; r < builder_.at(id).num_results; ++r) results.push_back(builder_.at(id).result(r));
    return results;
  }

  GraphBuilder& builder_;
  Variables variables_;
  const DType element_;
  std::map<std::string, ValueId> values_;  // in the new graph
  std::map<std::string, std::vector<ValueId>> sequences_;
  std::deque<TensorType> types_;
  Repetition repetition_;
};

}  // namespace

Replacement target_of(const Graph& graph, const Instance& instance) {
  Replacement out;
  out.roots = instance.roots;
  out.title = instance.rule.name;
  for (const std::string& name : read_by_targets(instance.rule)) {
    const auto value = instance.variables.values.find(name.substr(1));
    const auto list = instance.variables.sequences.find(name.substr(1));
    if (name[0] == '?' && value != instance.variables.values.end()) out.needs.push_back(value->second.id);
    if (name[0] == '@' && list != instance.variables.sequences.end())
      for (const Fact& fact : list->second) out.needs.push_back(fact.id);
  }
  const DType element = graph.type(instance.roots[0]).dtype;
  out.make = [&instance, element](GraphBuilder& builder, const Images& images) {
    return Targets(builder, images, instance, element).build(instance.rule);
  };
  return out;
}

}  // namespace isomer::replay
