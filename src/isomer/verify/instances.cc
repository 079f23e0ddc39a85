#include "isomer/verify/instances.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "isomer/base/rng.h"
#include "isomer/rules/expr.h"
#include "isomer/verify/attr_domains.h"
#include "isomer/verify/operand_shapes.h"

namespace isomer {
namespace {

using Kind = Instance::Value::Kind;
using Next = std::function<void()>;
using NextValues = std::function<void(const std::vector<ValueId>&)>;

/// What an unfinished instance says about its values.
class InstanceFacts : public ValueFacts {
 public:
  explicit InstanceFacts(const Instance& instance) : instance_(instance) {}
  const TensorType& type(ValueId value) const override { return instance_.values[value].type; }
  bool is_weight(ValueId value) const override {
    const Kind kind = instance_.values[value].kind;
    return kind == Kind::Weight || kind == Kind::Uniform;
  }
  const Tensor* constant(ValueId value) const override {
    const Instance::Value& known = instance_.values[value];
    if (known.kind != Kind::Uniform) return nullptr;
    scratch_ = uniform_tensor(known.type, known.number);
    return &scratch_;
  }

 private:
  const Instance& instance_;
  mutable Tensor scratch_;
};

void names_in(const Expr& expr, std::set<std::string>& out) {
  if (expr.kind == Expr::Kind::Variable) out.insert(expr.name.substr(1));
  for (const Expr& arg : expr.args) names_in(arg, out);
}

bool calls(const Expr& expr, std::initializer_list<std::string_view> functions) {
  if (expr.kind == Expr::Kind::Call && std::find(functions.begin(), functions.end(), expr.name) != functions.end())
    return true;
  return std::any_of(expr.args.begin(), expr.args.end(), [&](const Expr& arg) { return calls(arg, functions); });
}

/// Names of variables that `function` is asked about, outside of `or` and `not`.
void asked_about(const Expr& expr, std::string_view function, std::set<std::string>& out) {
  if (expr.name == "or" || expr.name == "not") return;
  if (expr.kind == Expr::Kind::Call && expr.name == function) names_in(expr, out);
  for (const Expr& arg : expr.args) asked_about(arg, function, out);
}

/// A condition of the rule with what the generator needs to know to decide it early.
struct Condition {
  const Expr* expr;
  std::set<std::string> names;
  bool of_prefixes;  // false on a part of a sequence means false on all of it
  bool done = false;
};

/// Backtracking over terms: operands first, then attributes, then inference, and conditions as soon as they are
/// decided.
class Generator {
 public:
  Generator(const Rule& rule, const InstanceBounds& bounds, size_t max_steps,
            const std::function<bool(const Instance&)>& visit)
      : rule_(rule), bounds_(bounds), max_steps_(max_steps), visit_(visit), facts_(instance_), rng_(bounds.sample) {
    for (const Expr& expr : rule.conditions) {
      Condition condition{&expr, {}, !calls(expr, {"len", "dims", "sum", "at", "not", "or"})};
      names_in(expr, condition.names);
      conditions_.push_back(std::move(condition));
      asked_about(expr, "weight", weights_);
      asked_about(expr, "value", uniforms_);
      asked_about(expr, "uniform", uniforms_);
    }
    shapes_ = small_shapes(bounds.rank, bounds.max_extent);
  }

  bool run() {
    source(0);
    return !stopped_;
  }

 private:
  // Sources
  // ------------------------------------------------------------------------------------------------------------

  void source(size_t i) {
    if (stopped_) return;
    if (i == rule_.sources.size()) return leaf();
    const Term& term = rule_.sources[i];
    if (!term.repeated) {
      return apply(term, [&](const std::vector<ValueId>&) { as_root([&] { source(i + 1); }); });
    }
    for_lengths(term, 1, [&](size_t n) { siblings(term, i, n, 0); });
  }

  void siblings(const Term& term, size_t i, size_t n, size_t done) {
    if (done == n) {
      repetition_.reset();
      return completing(term, [&] { source(i + 1); });
    }
    repetition_ = done;
    apply(term, [&](const std::vector<ValueId>&) {
      as_root([&] { siblings(term, i, n, done + 1); });
      repetition_ = done;
    });
    repetition_.reset();
  }

  void as_root(const Next& next) {
    instance_.roots.push_back(instance_.nodes.size() - 1);
    next();
    instance_.roots.pop_back();
  }

  void leaf() {
    if (instance_.max_rank() != bounds_.rank) return;
    if (!visit_(instance_)) stopped_ = true;
  }

  // Terms
  // --------------------------------------------------------------------------------------------------------------

  /// Lengths for a repeated term or a sequence: what its sequences have already, or all within bounds.
  void for_lengths(const Term& term, size_t least, const std::function<void(size_t)>& next) {
    std::vector<const Term*> pending{&term};
    while (!pending.empty()) {
      const Term* inner = pending.back();
      pending.pop_back();
      for (const Term& operand : inner->operands) pending.push_back(&operand);
      if (inner->kind != Term::Kind::Sequence) continue;
      if (const auto* bound = binding_.sequence(inner->name)) return next(bound->size());
    }
    for (const size_t n : shuffled(bounds_.max_sequence - least + 1)) next(n + least);
  }

  /// Marks the sequences of a repeated term as complete while `next` runs.
  void completing(const Term& term, const Next& next) {
    std::set<std::string> before = complete_;
    std::vector<const Term*> pending{&term};
    while (!pending.empty()) {
      const Term* inner = pending.back();
      pending.pop_back();
      for (const Term& operand : inner->operands) pending.push_back(&operand);
      if (inner->kind == Term::Kind::Sequence) complete_.insert(inner->name);
    }
    checked(next);
    complete_ = std::move(before);
  }

  struct Position {
    const OpDef* op;
    std::span<const ValueId> earlier;
  };

  void term(const Term& term, const Position& at, const NextValues& next) {
    if (stopped_) return;
    switch (term.kind) {
      case Term::Kind::Apply:
        return apply(term, next);
      case Term::Kind::Literal:
        return fresh(at, "", Kind::Uniform, {term.literal}, [&](ValueId id) { next({id}); });
      case Term::Kind::Value: {
        if (const ValueId* bound = binding_.value(term.name)) return next({*bound});
        return variable(at, term.name, term.name, [&](ValueId id) {
          binding_.values.emplace_back(term.name, id);
          complete_.insert(term.name);
          checked([&] { next({id}); });
          complete_.erase(term.name);
          binding_.values.pop_back();
        });
      }
      case Term::Kind::Sequence:
        return element(term, at, next);
    }
  }

  /// The element of a sequence for this repetition.
  void element(const Term& term, const Position& at, const NextValues& next) {
    if (!repetition_) return;
    const size_t i = *repetition_;
    if (const auto* bound = binding_.sequence(term.name); bound != nullptr && i < bound->size())
      return next({(*bound)[i]});
    append(term.name, at, [&](ValueId id) { next({id}); });
  }

  /// One value more for a sequence.
  void append(const std::string& name, const Position& at, const std::function<void(ValueId)>& next) {
    const auto* bound = binding_.sequence(name);
    const bool first = bound == nullptr;
    const std::string label = name + std::to_string(first ? 0 : bound->size());
    variable(at, name, label, [&](ValueId id) {
      if (first) binding_.sequences.emplace_back(name, std::vector<ValueId>{});
      sequence(name).push_back(id);
      checked([&] { next(id); });
      sequence(name).pop_back();
      if (first) std::erase_if(binding_.sequences, [&](const auto& entry) { return entry.first == name; });
    });
  }

  std::vector<ValueId>& sequence(const std::string& name) {
    return std::find_if(binding_.sequences.begin(), binding_.sequences.end(),
                        [&](const auto& entry) { return entry.first == name; })
        ->second;
  }

  /// A sequence that stands by itself: `n` values more, then complete.
  void whole_sequence(const std::string& name, const OpDef& op, std::vector<ValueId>& ids, size_t n, const Next& next) {
    if (n == 0) {
      const bool unbound = binding_.sequence(name) == nullptr;
      if (unbound) binding_.sequences.emplace_back(name, std::vector<ValueId>{});
      complete_.insert(name);
      checked(next);
      complete_.erase(name);
      if (unbound) std::erase_if(binding_.sequences, [&](const auto& entry) { return entry.first == name; });
      return;
    }
    const std::vector<ValueId> earlier = ids;
    append(name, {&op, earlier}, [&](ValueId id) {
      ids.push_back(id);
      whole_sequence(name, op, ids, n - 1, next);
      ids.pop_back();
    });
  }

  void variable(const Position& at, const std::string& name, const std::string& label,
                const std::function<void(ValueId)>& next) {
    if (uniforms_.contains(name)) return fresh(at, label, Kind::Uniform, {0, 1, 2, -1, 0.5}, next);
    fresh(at, label, weights_.contains(name) ? Kind::Weight : Kind::Input, {0}, next);
  }

  /// A new value of every type that can stand there.
  void fresh(const Position& at, const std::string& label, Kind kind, const std::vector<double>& numbers,
             const std::function<void(ValueId)>& next) {
    const DType dtype = fixed_operand_dtype(*at.op, at.earlier.size()).value_or(bounds_.element);
    std::vector<const TensorType*> types;
    for (const ValueId id : at.earlier) types.push_back(id == kNoValue ? nullptr : &instance_.values[id].type);
    const auto hint = possible_shapes(*at.op, types.size(), types, bounds_.rank, bounds_.max_extent);
    const std::vector<Ints>& shapes = hint ? *hint : shapes_;
    const auto id = static_cast<ValueId>(instance_.values.size());
    for (const size_t s : shuffled(shapes.size())) {
      if (shapes[s].size() > bounds_.rank) continue;
      for (const double number : numbers) {
        if (!step()) return;
        if (dtype != DType::Double && number != static_cast<double>(static_cast<int64_t>(number))) continue;
        instance_.values.push_back({kind, TensorType(dtype, Shape(shapes[s].begin(), shapes[s].end())), number, label});
        next(id);
        instance_.values.pop_back();
      }
    }
  }

  // Nodes
  // --------------------------------------------------------------------------------------------------------------

  void apply(const Term& term, const NextValues& next) {
    std::vector<ValueId> ids;
    operands(term, 0, ids, [&] { attributes(term, ids, next); });
  }

  void operands(const Term& parent, size_t t, std::vector<ValueId>& ids, const Next& next) {
    if (stopped_ || ids.size() > parent.op->max_operands) return;
    if (t == parent.operands.size()) {
      if (ids.size() >= parent.op->min_operands) next();
      return;
    }
    const Term& term = parent.operands[t];
    const size_t size = ids.size();
    const auto rest = [&] { operands(parent, t + 1, ids, next); };
    if (term.repeated) {
      for_lengths(term, 1, [&](size_t n) { repeated(parent, term, ids, n, 0, rest); });
    } else if (term.kind == Term::Kind::Sequence && !repetition_) {
      if (const auto* bound = binding_.sequence(term.name)) {
        ids.insert(ids.end(), bound->begin(), bound->end());
        rest();
        ids.resize(size);
      } else {
        for (const size_t n : shuffled(bounds_.max_sequence + 1)) whole_sequence(term.name, *parent.op, ids, n, rest);
      }
    } else {
      const std::vector<ValueId> earlier = ids;
      this->term(term, {parent.op, earlier}, [&](const std::vector<ValueId>& values) {
        ids.insert(ids.end(), values.begin(), values.end());
        rest();
        ids.resize(size);
      });
    }
  }

  void repeated(const Term& parent, const Term& term, std::vector<ValueId>& ids, size_t n, size_t done,
                const Next& next) {
    if (done == n) {
      repetition_.reset();
      return completing(term, next);
    }
    repetition_ = done;
    const size_t size = ids.size();
    const std::vector<ValueId> earlier = ids;
    this->term(term, {parent.op, earlier}, [&](const std::vector<ValueId>& values) {
      ids.insert(ids.end(), values.begin(), values.end());
      repeated(parent, term, ids, n, done + 1, next);
      ids.resize(size);
      repetition_ = done;
    });
    repetition_.reset();
  }

  // Attributes
  // ---------------------------------------------------------------------------------------------------------

  void attributes(const Term& term, const std::vector<ValueId>& ids, const NextValues& next) {
    std::vector<const AttrDef*> order;
    for (const AttrDef& def : term.op->attrs) order.push_back(&def);
    std::stable_sort(order.begin(), order.end(),
                     [](const AttrDef* a, const AttrDef* b) { return attr_order(*a) < attr_order(*b); });
    attribute(term, order, 0, ids, Attrs(), next);
  }

  void attribute(const Term& term, const std::vector<const AttrDef*>& order, size_t i, const std::vector<ValueId>& ids,
                 const Attrs& chosen, const NextValues& next) {
    if (stopped_) return;
    if (i == order.size()) return finish(term, ids, chosen, next);
    const AttrDef& def = *order[i];
    const auto with = [&](const std::optional<AttrValue>& value) {
      attribute(term, order, i + 1, ids, value ? chosen.with(def.name, *value) : chosen, next);
    };
    const auto given =
        std::find_if(term.attrs.begin(), term.attrs.end(), [&](const auto& attr) { return attr.first == def.name; });
    if (given != term.attrs.end()) return expressed(given->second, def, term, ids, chosen, with);
    if (term.rest.empty()) {
      if (def.preset || def.optional) with(def.preset);
      return;
    }
    if (const Attrs* record = binding_.record(term.rest)) {
      const AttrValue* value = record->find(def.name);
      return with(value == nullptr ? std::nullopt : std::optional(*value));
    }
    choices(def, term, ids, chosen, with);
  }

  using WithValue = std::function<void(const std::optional<AttrValue>&)>;

  void choices(const AttrDef& def, const Term& term, const std::vector<ValueId>& ids, const Attrs& chosen,
               const WithValue& with) {
    std::vector<const TensorType*> types;
    for (const ValueId id : ids) types.push_back(id == kNoValue ? nullptr : &instance_.values[id].type);
    const auto domain = attr_domain({*term.op, def, types, chosen, bounds_.element, bounds_.max_extent});
    for (const size_t c : shuffled(domain.size())) {
      const AttrChoice& choice = domain[c];
      if (!choice.plain && odd_ == bounds_.max_odd) continue;
      if (!step()) return;
      odd_ += choice.plain ? 0 : 1;
      with(choice.value);
      odd_ -= choice.plain ? 0 : 1;
    }
  }

  /// An attribute that the pattern gives by an expression: its value; where that hangs on what is not bound yet, any
  /// value (the matcher decides in the end).
  void expressed(const Expr& expr, const AttrDef& def, const Term& term, const std::vector<ValueId>& ids,
                 const Attrs& chosen, const WithValue& with) {
    const auto value = evaluate(expr, ExprContext{binding_, facts_, repetition_});
    if (value) {
      const auto attr = to_attr(*value, def.kind, bounds_.element);
      if (attr) with(*attr);
      return;
    }
    const bool bare = expr.kind == Expr::Kind::Variable && expr.name[0] == '?';
    choices(def, term, ids, chosen, [&](const std::optional<AttrValue>& choice) {
      if (!bare) return with(choice);
      if (!choice) return;
      const std::string name = expr.name.substr(1);
      binding_.attrs.emplace_back(name, from_attr(*choice));
      complete_.insert(name);
      checked([&] { with(choice); });
      complete_.erase(name);
      binding_.attrs.pop_back();
    });
  }

  /// All attributes are chosen: binds the record, infers, and goes on with the results.
  void finish(const Term& term, const std::vector<ValueId>& ids, const Attrs& chosen, const NextValues& next) {
    if (!step()) return;
    std::vector<const TensorType*> types;
    for (const ValueId id : ids) types.push_back(id == kNoValue ? nullptr : &instance_.values[id].type);
    auto results = term.op->infer(OpView{*term.op, chosen, types, term.op->min_results});
    if (!results || !fits(*results)) return;
    const bool binds = !term.rest.empty() && binding_.record(term.rest) == nullptr;
    if (binds) {
      Attrs record = chosen;
      for (const auto& [name, expr] : term.attrs) record = record.without(name);
      binding_.records.emplace_back(term.rest, std::move(record));
      complete_.insert(term.rest);
    }
    const auto first = static_cast<ValueId>(instance_.values.size());
    std::vector<ValueId> values(results->size());
    std::iota(values.begin(), values.end(), first);
    for (TensorType& type : *results) instance_.values.push_back({Kind::Result, std::move(type), 0, ""});
    instance_.nodes.push_back({term.op, chosen, ids, first, static_cast<uint32_t>(values.size())});
    checked([&] { next(values); });
    instance_.nodes.pop_back();
    instance_.values.resize(first);
    if (binds) {
      complete_.erase(term.rest);
      binding_.records.pop_back();
    }
  }

  /// Extents are known, not 0 and not out of hand.
  static bool fits(const std::vector<TensorType>& types) {
    return std::all_of(types.begin(), types.end(), [](const TensorType& type) {
      const auto dims = concrete(*type.shape);
      if (!dims || std::find(dims->begin(), dims->end(), 0) != dims->end()) return false;
      return std::accumulate(dims->begin(), dims->end(), int64_t{1}, std::multiplies<>()) <= 4096;
    });
  }

  // Conditions
  // ---------------------------------------------------------------------------------------------------------

  /// Runs `next` unless a condition that can be decided now does not hold.
  void checked(const Next& next) {
    if (stopped_) return;
    std::vector<size_t> decided;
    bool all = true;
    for (size_t i = 0; all && i < conditions_.size(); ++i) {
      Condition& condition = conditions_[i];
      if (condition.done || !ready(condition)) continue;
      const bool whole =
          std::includes(complete_.begin(), complete_.end(), condition.names.begin(), condition.names.end());
      if (whole) {
        condition.done = true;
        decided.push_back(i);
      }
      all = holds(*condition.expr, ExprContext{binding_, facts_}).has_value();
    }
    if (all) next();
    for (const size_t i : decided) conditions_[i].done = false;
  }

  bool ready(const Condition& condition) const {
    return std::all_of(condition.names.begin(), condition.names.end(), [&](const std::string& name) {
      if (complete_.contains(name)) return true;
      return condition.of_prefixes && binding_.sequence(name) != nullptr && !binding_.sequence(name)->empty();
    });
  }

  // Choices
  // ------------------------------------------------------------------------------------------------------------

  bool step() {
    if (++steps_ > max_steps_) stopped_ = true;
    return !stopped_;
  }

  /// 0, 1, ..., n - 1; for a sample, three of them at random.
  std::vector<size_t> shuffled(size_t n) {
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    if (bounds_.sample == 0) return order;
    for (size_t i = n; i > 1; --i) std::swap(order[i - 1], order[rng_.below(i)]);
    if (order.size() > kSampleWidth) order.resize(kSampleWidth);
    return order;
  }

  static constexpr size_t kSampleWidth = 3;

  const Rule& rule_;
  const InstanceBounds& bounds_;
  const size_t max_steps_;
  const std::function<bool(const Instance&)>& visit_;
  Instance instance_;
  const InstanceFacts facts_;
  Binding binding_;
  std::optional<size_t> repetition_;
  std::vector<Condition> conditions_;
  std::set<std::string> complete_;
  std::set<std::string> weights_;
  std::set<std::string> uniforms_;
  std::vector<Ints> shapes_;
  size_t odd_ = 0;
  size_t steps_ = 0;
  bool stopped_ = false;
  Rng rng_;
};

}  // namespace

bool for_each_instance(const Rule& rule, const InstanceBounds& bounds, size_t max_steps,
                       const std::function<bool(const Instance&)>& visit) {
  return Generator(rule, bounds, max_steps, visit).run();
}

}  // namespace isomer
