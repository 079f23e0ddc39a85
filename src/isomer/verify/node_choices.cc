#include "isomer/verify/node_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace isomer {
namespace {

/// Extents are known, not 0 and not out of hand.
bool fits(const std::vector<TensorType>& types) {
  return std::all_of(types.begin(), types.end(), [](const TensorType& type) {
    const auto dims = concrete(*type.shape);
    if (!dims || std::find(dims->begin(), dims->end(), 0) != dims->end()) return false;
    return std::accumulate(dims->begin(), dims->end(), int64_t{1}, std::multiplies<>()) <= 4096;
  });
}

}  // namespace

void NodeChoices::each(const Term& term, const std::vector<ValueId>& operands, std::optional<size_t> repetition,
                       const NextValues& next) {
  Site site{term, operands, repetition, {}, next};
  for (const AttrDef& def : term.op->attrs) site.order.push_back(&def);
  std::stable_sort(site.order.begin(), site.order.end(),
                   [](const AttrDef* a, const AttrDef* b) { return attr_order(*a) < attr_order(*b); });
  attribute(site, 0, Attrs());
}

void NodeChoices::attribute(const Site& site, size_t i, const Attrs& chosen) {
  if (budget_.stopped()) return;
  if (i == site.order.size()) return finish(site, chosen);
  const Term& term = site.term;
  const AttrDef& def = *site.order[i];
  const auto with = [&](const std::optional<AttrValue>& value) {
    attribute(site, i + 1, value ? chosen.with(def.name, *value) : chosen);
  };
  const auto given =
      std::find_if(term.attrs.begin(), term.attrs.end(), [&](const auto& attr) { return attr.first == def.name; });
  if (given != term.attrs.end()) return expressed(site, given->second, def, chosen, with);
  if (term.rest.empty()) {
    if (def.preset || def.optional) with(def.preset);
    return;
  }
  if (const Attrs* record = partial_.binding().record(term.rest)) {
    const AttrValue* value = record->find(def.name);
    return with(value == nullptr ? std::nullopt : std::optional(*value));
  }
  any(site, def, chosen, with);
}

void NodeChoices::any(const Site& site, const AttrDef& def, const Attrs& chosen, const WithValue& with) {
  const std::vector<AttrChoice>& choices = domain(site, def, chosen);
  for (const size_t c : budget_.order(choices.size())) {
    const AttrChoice& choice = choices[c];
    if (!budget_.step()) return;
    budget_.spend({.odd = choice.plain ? 0U : 1U}, [&] { with(choice.value); });
  }
}

const std::vector<AttrChoice>& NodeChoices::domain(const Site& site, const AttrDef& def, const Attrs& chosen) {
  const auto types = partial_.types(site.operands);
  std::string key = fmt::format("{} {} ", site.term.op->name, def.name);
  if (!types.empty() && types[0] != nullptr) key += shape_str(*types[0]->shape);
  for (const std::string_view depended : {"axis", "axes"})
    if (const AttrValue* value = chosen.find(depended)) key += attr_str(*value);
  const auto [known, fresh] = domains_.try_emplace(std::move(key));
  if (fresh) known->second = attr_domain({*site.term.op, def, types, chosen, bounds_.element, bounds_.extents});
  return known->second;
}

/// An attribute that the pattern gives by an expression: its value; where that hangs on what is not bound yet, any
/// value (the matcher decides in the end).
void NodeChoices::expressed(const Site& site, const Expr& expr, const AttrDef& def, const Attrs& chosen,
                            const WithValue& with) {
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
      if (attr) determined(site, expr.name.substr(1), def, chosen, *attr, with);
      return;
    }
  }
  any(site, def, chosen, [&](const std::optional<AttrValue>& choice) {
    if (!bare) return with(choice);
    if (choice) partial_.bind_attr(expr.name.substr(1), from_attr(*choice), [&] { with(choice); });
  });
}

/// An attribute that a condition leaves one value.
void NodeChoices::determined(const Site& site, const std::string& name, const AttrDef& def, const Attrs& chosen,
                             const AttrValue& value, const WithValue& with) {
  if (!budget_.step()) return;
  const bool odd = std::ranges::any_of(domain(site, def, chosen), [&](const AttrChoice& choice) {
    return !choice.plain && choice.value && *choice.value == value;
  });
  budget_.spend({.odd = odd ? 1U : 0U}, [&] { partial_.bind_attr(name, from_attr(value), [&] { with(value); }); });
}

/// All attributes are chosen: infers, binds the record and goes on with the results.
void NodeChoices::finish(const Site& site, const Attrs& chosen) {
  if (!budget_.step()) return;
  const Term& term = site.term;
  const auto types = partial_.types(site.operands);
  auto results = term.op->infer(OpView{*term.op, chosen, types, term.op->min_results});
  if (!results || !fits(*results)) return;
  const Next go_on = [&] {
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
