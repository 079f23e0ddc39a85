#include "isomer/check/node_choices.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "isomer/base/hash.h"
#include "isomer/check/generality.h"

namespace isomer {
namespace {

/// Returns whether extents are known and not too large, and are not 0 unless that is allowed.
bool fits(const std::vector<TensorType>& types, bool may_be_empty) {
  return std::ranges::all_of(types, [&](const TensorType& type) {
    const auto dims = concrete(*type.shape);
    if (!dims || (!may_be_empty && std::ranges::find(*dims, 0) != dims->end())) return false;
    return std::accumulate(dims->begin(), dims->end(), int64_t{1}, std::multiplies<>()) <= 4096;
  });
}

/// Returns whether an attribute says where a window stands.
bool moves_window(const AttrDef& def) {
  return def.domain == AttrDomain::Strides || def.domain == AttrDomain::WindowPads ||
         def.domain == AttrDomain::OutputPadding;
}

}  // namespace

void NodeChoices::each(const Term& term, const std::vector<ValueId>& operands, std::optional<size_t> repetition,
                       NextValues next) {
  Site site{term, operands, repetition, next, order(*term.op), {}};
  attribute(site, 0);
}

const std::vector<const AttrDef*>& NodeChoices::order(const OpDef& op) {
  const auto [known, fresh] = orders_.try_emplace(&op);
  if (fresh) {
    for (const AttrDef& def : op.attrs) known->second.push_back(&def);
    std::ranges::stable_sort(known->second, {}, [](const AttrDef* def) { return attr_order(*def); });
  }
  return known->second;
}

void NodeChoices::attribute(Site& site, size_t i) {
  if (budget_.stopped()) return;
  if (i == site.order.size()) return finish(site);
  const Term& term = site.term;
  const AttrDef& def = *site.order[i];
  const auto with = [&](const std::optional<AttrValue>& value) {
    if (!value) return attribute(site, i + 1);
    site.chosen.emplace_back(def.name, *value);
    attribute(site, i + 1);
    site.chosen.pop_back();
  };
  const auto given =
      std::find_if(term.attrs.begin(), term.attrs.end(), [&](const auto& attr) { return attr.first == def.name; });
  if (given != term.attrs.end()) return expressed(site, given->second, def, with);
  if (term.rest.empty()) {
    if (def.preset || def.optional) with(def.preset);
    return;
  }
  if (const Attrs* record = partial_.binding().record(term.rest)) {
    const AttrValue* value = record->find(def.name);
    return with(value == nullptr ? std::nullopt : std::optional(*value));
  }
  any(site, def, term.rest, with);
}

void NodeChoices::any(const Site& site, const AttrDef& def, const std::string& name, WithValue with) {
  const bool representatives = bounds_.representatives.contains(name);
  const std::vector<AttrChoice>& choices = domain(site, def);
  const ChoiceBudget::Cost non_default = cost_of_non_default(def);
  for (const size_t c : budget_.order(choices.size())) {
    const AttrChoice& choice = choices[c];
    if (bounds_.plain_windows && !choice.plain && moves_window(def)) continue;
    if (representatives && choice.value && !is_representative(*site.term.op, def, *choice.value)) continue;
    if (!budget_.step()) return;
    budget_.spend(choice.plain ? ChoiceBudget::Cost{} : non_default, [&] { with(choice.value); });
  }
}

ChoiceBudget::Cost NodeChoices::cost_of_non_default(const AttrDef& def) const {
  if (bounds_.max_non_default_numbers == InstanceBounds::kAny) return {.non_default = 1};
  // In shapes, 0 and -1 are special, and proofs keep them fixed.
  const bool number = generality(def) != Generality::Fixed && !lists_extents(def);
  return {.non_default = 1, .numbers = number ? 1U : 0U};
}

const std::vector<AttrChoice>& NodeChoices::domain(const Site& site, const AttrDef& def) {
  const auto types = partial_.types(site.operands);
  uint64_t key = std::bit_cast<uintptr_t>(&def);
  if (!types.empty() && types[0] != nullptr) key = hash_mix(key, types[0]->hash());
  for (const auto& [name, value] : site.chosen)
    if (name == "axis" || name == "axes") key = hash_mix(key, attr_hash(value));
  const auto [known, fresh] = domains_.try_emplace(key);
  if (fresh) {
    const Attrs chosen(site.chosen);
    known->second = attr_domain({*site.term.op, def, types, chosen, bounds_.element, bounds_.extents});
  }
  return known->second;
}

/// An attribute that the pattern gives by an expression: tries its value. If that depends on unbound variables, tries
/// any value (the matcher decides in the end).
void NodeChoices::expressed(const Site& site, const Expr& expr, const AttrDef& def, WithValue with) {
  const auto value = evaluate(expr, partial_.context(site.repetition));
  if (value) {
    const auto attr = to_attr(*value, def.kind, bounds_.element);
    if (attr) with(*attr);
    return;
  }
  const bool bare = expr.kind == Expr::Kind::Variable && expr.name[0] == '?';
  if (bare) {
    if (const auto only = partial_.determined(expr.name.substr(1))) {
      const auto attr = to_attr(*only, def.kind, bounds_.element);
      if (attr) determined(site, expr.name.substr(1), def, *attr, with);
      return;
    }
  }
  // Only a record also has what allows extents of 0.
  const bool free = bare && !lists_extents(def);
  any(site, def, free ? expr.name.substr(1) : "", [&](const std::optional<AttrValue>& choice) {
    if (!bare) return with(choice);
    if (choice) partial_.bind_attr(expr.name.substr(1), from_attr(*choice), [&] { with(choice); });
  });
}

/// Tries an attribute for which a condition allows only one value.
void NodeChoices::determined(const Site& site, const std::string& name, const AttrDef& def, const AttrValue& value,
                             WithValue with) {
  if (!budget_.step()) return;
  const bool non_default = std::ranges::any_of(domain(site, def), [&](const AttrChoice& choice) {
    return !choice.plain && choice.value && *choice.value == value;
  });
  budget_.spend(non_default ? cost_of_non_default(def) : ChoiceBudget::Cost{},
                [&] { partial_.bind_attr(name, from_attr(value), [&] { with(value); }); });
}

/// All attributes are chosen: infers, binds the record and continues with the results.
void NodeChoices::finish(const Site& site) {
  if (!budget_.step()) return;
  const Attrs chosen(site.chosen);
  const Term& term = site.term;
  const auto types = partial_.types(site.operands);
  auto results = term.op->infer(OpView{*term.op, chosen, types, term.op->min_results});
  if (!results || !fits(*results, bounds_.extents.front() == 0)) return;
  const auto go_on = [&] {
    partial_.with_node(*term.op, chosen, site.operands, std::move(*results), [&](const std::vector<ValueId>& values) {
      if (!budget_.stopped()) site.next(values);
    });
  };
  if (term.rest.empty() || partial_.binding().record(term.rest) != nullptr) return go_on();
  Attrs record = chosen;
  for (const auto& [name, expr] : term.attrs) record = record.without(name);
  partial_.bind_record(term.rest, std::move(record), go_on);
}

}  // namespace isomer
