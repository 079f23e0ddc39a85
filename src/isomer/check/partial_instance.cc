#include "isomer/check/partial_instance.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "isomer/rules/walk.h"

namespace isomer {
namespace {

using Kind = Instance::Value::Kind;

void names_in(const Expr& expr, std::set<std::string>& out) {
  for_each_expr(expr, [&](const Expr& part) {
    if (part.kind == Expr::Kind::Variable) out.insert(part.name.substr(1));
  });
}

bool calls(const Expr& expr, std::initializer_list<std::string_view> functions) {
  return any_expr(expr, [&](const Expr& part) {
    return part.kind == Expr::Kind::Call && std::ranges::find(functions, part.name) != functions.end();
  });
}

/// Collects the names of variables that `function` is applied to, outside of `or` and `not`.
void asked_about(const Expr& expr, std::string_view function, std::set<std::string>& out) {
  if (expr.name == "or" || expr.name == "not") return;
  if (expr.kind == Expr::Kind::Call && expr.name == function) names_in(expr, out);
  for (const Expr& arg : expr.args) asked_about(arg, function, out);
}

}  // namespace

const TensorType& PartialInstance::Facts::type(ValueId value) const { return instance_.values[value].type; }

bool PartialInstance::Facts::is_weight(ValueId value) const {
  const Kind kind = instance_.values[value].kind;
  return kind == Kind::Weight || kind == Kind::Uniform || kind == Kind::Indices;
}

const Tensor* PartialInstance::Facts::constant(ValueId value) const {
  const Instance::Value& known = instance_.values[value];
  if (known.kind != Kind::Uniform && known.kind != Kind::Indices) return nullptr;
  scratch_ = constant_tensor(known);
  return &scratch_;
}

PartialInstance::PartialInstance(const Rule& rule) : facts_(instance_) {
  for (const Expr& expr : rule.conditions) {
    Condition condition{&expr, {}, !calls(expr, {"len", "dims", "sum", "at", "not", "or"}), 0};
    names_in(expr, condition.names);
    condition.open = condition.names.size();
    for (const std::string& name : condition.names) names_[name].conditions.push_back(conditions_.size());
    conditions_.push_back(std::move(condition));
    asked_about(expr, "weight", weights_);
    asked_about(expr, "value", uniforms_);
    asked_about(expr, "uniform", uniforms_);
  }
}

std::vector<const TensorType*> PartialInstance::types(const std::vector<ValueId>& ids) const {
  std::vector<const TensorType*> out;
  out.reserve(ids.size());
  for (const ValueId id : ids) out.push_back(id == kNoValue ? nullptr : &instance_.values[id].type);
  return out;
}

std::optional<ExprValue> PartialInstance::determined(const std::string& name) const {
  const auto known = names_.find(name);
  if (known == names_.end() || known->second.complete) return std::nullopt;
  for (const size_t i : known->second.conditions) {
    const Condition& condition = conditions_[i];
    const Expr& expr = *condition.expr;
    if (condition.open != 1 || expr.name != "==" || expr.args[0].kind != Expr::Kind::Variable ||
        expr.args[0].name.substr(1) != name)
      continue;
    std::set<std::string> others;
    names_in(expr.args[1], others);
    if (others.contains(name)) continue;
    if (auto value = evaluate(expr.args[1], ExprContext{binding_, facts_})) return *std::move(value);
  }
  return std::nullopt;
}

void PartialInstance::with_value(Instance::Value value, FunctionRef<void(ValueId)> next) {
  const auto id = static_cast<ValueId>(instance_.values.size());
  instance_.values.push_back(std::move(value));
  next(id);
  instance_.values.pop_back();
}

void PartialInstance::with_node(const OpDef& op, const Attrs& attrs, const std::vector<ValueId>& operands,
                                std::vector<TensorType> results, FunctionRef<void(const std::vector<ValueId>&)> next) {
  const auto first = static_cast<ValueId>(instance_.values.size());
  std::vector<ValueId> values(results.size());
  std::iota(values.begin(), values.end(), first);
  for (TensorType& type : results) instance_.values.push_back({Kind::Result, std::move(type), 0, ""});
  instance_.nodes.push_back({&op, attrs, operands, first, static_cast<uint32_t>(values.size())});
  checked(std::exchange(records_, {}), [&] { next(values); });
  instance_.nodes.pop_back();
  instance_.values.resize(first);
}

void PartialInstance::with_root(Next next) {
  instance_.roots.push_back(instance_.nodes.size() - 1);
  next();
  instance_.roots.pop_back();
}

void PartialInstance::bind_value(const std::string& name, ValueId id, Next next) {
  binding_.values.emplace_back(name, id);
  const bool fresh = complete(name);
  checked({&name, 1}, next);
  if (fresh) reopen(name);
  binding_.values.pop_back();
}

void PartialInstance::bind_attr(const std::string& name, ExprValue value, Next next) {
  binding_.attrs.emplace_back(name, std::move(value));
  const bool fresh = complete(name);
  checked({&name, 1}, next);
  if (fresh) reopen(name);
  binding_.attrs.pop_back();
}

void PartialInstance::bind_record(const std::string& name, Attrs record, Next next) {
  binding_.records.emplace_back(name, std::move(record));
  const bool fresh = complete(name);
  records_.push_back(name);
  next();
  records_.clear();
  if (fresh) reopen(name);
  binding_.records.pop_back();
}

void PartialInstance::bind_element(const std::string& name, ValueId id, Next next) {
  const bool first = binding_.sequence(name) == nullptr;
  if (first) binding_.sequences.emplace_back(name, std::vector<ValueId>{});
  sequence(name).push_back(id);
  checked({&name, 1}, next);
  sequence(name).pop_back();
  if (first) forget_sequence(name);
}

void PartialInstance::bind_whole(const std::string& name, Next next) {
  const bool unbound = binding_.sequence(name) == nullptr;
  if (unbound) binding_.sequences.emplace_back(name, std::vector<ValueId>{});
  const bool fresh = complete(name);
  checked({&name, 1}, next);
  if (fresh) reopen(name);
  if (unbound) forget_sequence(name);
}

void PartialInstance::bind_all_of(const Term& term, Next next) {
  std::vector<std::string> names;
  for (const Term* inner : sequences_of(term))
    if (complete(inner->name)) names.push_back(inner->name);
  checked(names, next);
  for (const std::string& name : names) reopen(name);
}

std::vector<ValueId>& PartialInstance::sequence(const std::string& name) {
  return std::find_if(binding_.sequences.begin(), binding_.sequences.end(),
                      [&](const auto& entry) { return entry.first == name; })
      ->second;
}

void PartialInstance::forget_sequence(const std::string& name) {
  std::erase_if(binding_.sequences, [&](const auto& entry) { return entry.first == name; });
}

bool PartialInstance::complete(const std::string& name) {
  const auto found = names_.find(name);
  if (found == names_.end() || found->second.complete) return false;
  found->second.complete = true;
  for (const size_t condition : found->second.conditions) --conditions_[condition].open;
  return true;
}

void PartialInstance::reopen(const std::string& name) {
  Name& known = names_.at(name);
  known.complete = false;
  for (const size_t condition : known.conditions) ++conditions_[condition].open;
}

void PartialInstance::checked(std::span<const std::string> names, Next next) {
  std::vector<size_t> decided;
  const bool against = std::ranges::any_of(names, [&](const std::string& name) {
    const auto found = names_.find(name);
    return found != names_.end() && std::ranges::any_of(found->second.conditions, [&](size_t condition) {
             return decides_against(condition, decided);
           });
  });
  if (!against) next();
  for (const size_t i : decided) conditions_[i].done = false;
}

/// Returns whether the condition can be decided and does not hold. Adds it to `decided` if it need not be checked
/// again.
bool PartialInstance::decides_against(size_t i, std::vector<size_t>& decided) {
  Condition& condition = conditions_[i];
  if (condition.done || !ready(condition)) return false;
  if (condition.open == 0) {
    condition.done = true;
    decided.push_back(i);
  }
  const auto value = evaluate(*condition.expr, ExprContext{binding_, facts_});
  const bool* known = value ? std::get_if<bool>(&*value) : nullptr;
  return known == nullptr || !*known;
}

bool PartialInstance::ready(const Condition& condition) const {
  if (condition.open == 0) return true;
  return condition.of_prefixes && std::ranges::all_of(condition.names, [&](const std::string& name) {
           return names_.at(name).complete || (binding_.sequence(name) != nullptr && !binding_.sequence(name)->empty());
         });
}

std::vector<const Term*> sequences_of(const Term& term) {
  std::vector<const Term*> out;
  std::vector<const Term*> pending{&term};
  while (!pending.empty()) {
    const Term* inner = pending.back();
    pending.pop_back();
    for (const Term& operand : inner->operands) pending.push_back(&operand);
    if (inner->kind == Term::Kind::Sequence) out.push_back(inner);
  }
  return out;
}

}  // namespace isomer
