#include "isomer/verify/node_choices.h"

#include <algorithm>
#include <numeric>

#include "isomer/verify/attr_domains.h"

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
  const auto types = partial_.types(site.operands);
  const auto domain = attr_domain({*site.term.op, def, types, chosen, bounds_.element, bounds_.extents});
  for (const size_t c : budget_.order(domain.size())) {
    const AttrChoice& choice = domain[c];
    if (!budget_.step()) return;
    budget_.spend({.odd = choice.plain ? 0U : 1U}, [&] { with(choice.value); });
  }
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
  any(site, def, chosen, [&](const std::optional<AttrValue>& choice) {
    if (!bare) return with(choice);
    if (choice) partial_.bind_attr(expr.name.substr(1), from_attr(*choice), [&] { with(choice); });
  });
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
