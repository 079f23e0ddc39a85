#include "isomer/discover/relaxation.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "isomer/check/rule_check.h"
#include "isomer/ops/registry.h"
#include "isomer/rules/build.h"
#include "isomer/rules/walk.h"

namespace isomer {
namespace {

/// Visits all expressions of attributes and conditions.
template <class Visit>
void visit_exprs(Rule& rule, const Visit& visit) {
  const auto attrs = [&](Term& term) {
    for (auto& [name, expr] : term.attrs) for_each_expr(expr, visit);
  };
  for_each_source_term(rule, attrs);
  for_each_target_term(rule, attrs);
  for (Expr& condition : rule.conditions) for_each_expr(condition, visit);
}

std::string lower(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

/// Returns whether an expression is a number, a text or a list of them.
bool closed(const Expr& expr) {
  if (expr.kind == Expr::Kind::List) return std::ranges::all_of(expr.args, closed);
  return expr.kind == Expr::Kind::Integer || expr.kind == Expr::Kind::Real || expr.kind == Expr::Kind::Text;
}

Expr* attribute(Term& term, const std::string& name) {
  const auto found = std::ranges::find(term.attrs, name, [](const auto& attr) { return attr.first; });
  return found == term.attrs.end() ? nullptr : &found->second;
}

std::optional<Expr> preset_expr(const AttrDef& def) {
  if (!def.preset) return std::nullopt;
  Expr out;
  if (const auto* number = std::get_if<int64_t>(&*def.preset)) return integer_expr(*number);
  if (const auto* list = std::get_if<Ints>(&*def.preset)) {
    for (const int64_t element : *list) out.args.push_back(integer_expr(element));
    return list_expr(std::move(out.args));
  }
  if (const auto* real = std::get_if<float>(&*def.preset)) {
    out.kind = Expr::Kind::Real;
    out.real = static_cast<double>(*real);
    return out;
  }
  if (const auto* text = std::get_if<std::string>(&*def.preset)) {
    out.kind = Expr::Kind::Text;
    out.name = *text;
    return out;
  }
  return std::nullopt;
}

/// Returns whether an attribute refers to axes or extents, which have relaxations of their own.
bool speaks_of_axes(const std::string& name) {
  static const std::set<std::string> kNames = {"axis", "axes", "starts", "ends", "steps", "split", "shape", "value"};
  return kNames.contains(name);
}

/// Adds a record for all attributes of a node. Attributes that were not named had their presets, and are named from now
/// on.
void with_record(Term& term, const std::string& record) {
  if (!term.rest.empty()) return;
  for (const AttrDef& def : term.op->attrs)
    if (attribute(term, def.name) == nullptr)
      if (auto preset = preset_expr(def)) term.attrs.emplace_back(def.name, std::move(*preset));
  term.rest = record;
}

void forget(Term& term, const std::string& name) {
  std::erase_if(term.attrs, [&](const auto& attr) { return attr.first == name; });
}

/// Returns the value of an attribute, named or preset.
std::optional<Expr> value_of(Term& term, const std::string& name) {
  if (const Expr* named = attribute(term, name)) return *named;
  if (!term.rest.empty()) return std::nullopt;  // freed
  const AttrDef* def = term.op->find_attr(name);
  return def == nullptr ? std::nullopt : preset_expr(*def);
}

bool is_integers(const Expr& expr) {
  return expr.kind == Expr::Kind::List &&
         std::ranges::all_of(expr.args, [](const Expr& each) { return each.kind == Expr::Kind::Integer; });
}

/// Returns the part of a list before `tail`, if the list ends so.
std::optional<Expr> before_tail(const Expr& list, const Expr& tail) {
  if (list.kind != Expr::Kind::List || list.args.size() < tail.args.size()) return std::nullopt;
  const auto begin = list.args.end() - static_cast<std::ptrdiff_t>(tail.args.size());
  if (!std::equal(begin, list.args.end(), tail.args.begin())) return std::nullopt;
  return list_expr({list.args.begin(), begin});
}

/// Returns whether a number is unlikely to occur by accident.
bool is_telling(const Expr& value) { return value.kind == Expr::Kind::Real && value.real != 0 && value.real != 1; }

/// Returns a scalar that is computed by an expression.
Term number_term(Expr value) {
  return apply_term(op("ConstantOfShape"), {{"shape", list_expr({})}, {"value", std::move(value)}}, {});
}

/// Returns the ranks that conditions fix.
std::map<std::string, int64_t> fixed_ranks(const Rule& rule) {
  std::map<std::string, int64_t> out;
  for (const Expr& condition : rule.conditions)
    if ((condition.name == "==" || condition.name == ">=") && condition.args[0].name == "rank" &&
        condition.args[1].kind == Expr::Kind::Integer)
      out[condition.args[0].args[0].name.substr(1)] = condition.args[1].integer;
  return out;
}

/// The rank of a term's value: the one that conditions fix, and an expression that is right for any.
struct TermRank {
  int64_t number;
  Expr expr;
};

std::optional<TermRank> rank_of(const Term& term, const std::map<std::string, int64_t>& ranks) {
  static const std::set<std::string_view> kBinary = {"Add", "Sub", "Mul", "Div", "MatMul"};
  static const std::set<std::string_view> kOther = {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Gather",
                                                    "Gemm",    "Expand",  "EyeLike",   "Split"};
  if (term.kind == Term::Kind::Literal) return TermRank{0, integer_expr(0)};
  if (term.kind == Term::Kind::Value) {
    const auto known = ranks.find(term.name);
    return known == ranks.end() ? std::nullopt : std::optional(TermRank{known->second, rank_expr(term.name)});
  }
  if (term.kind != Term::Kind::Apply || term.operands.empty() || kOther.contains(term.op->name)) return std::nullopt;
  auto first = rank_of(term.operands[0], ranks);
  if (!first || !kBinary.contains(term.op->name)) return first;
  auto second = rank_of(term.operands[1], ranks);
  if (!second) return std::nullopt;
  if (first->expr == second->expr || second->number == 0) return first;
  if (first->number == 0) return second;
  return TermRank{std::max(first->number, second->number), call_expr("max", {first->expr, second->expr})};
}

/// Variables for values that a source can only express after its inputs are bound: they are compared in `where`.
class Bindings {
 public:
  Bindings(char letter, int64_t first) : letter_(letter), next_(first) {}

  /// Returns the variable that equals `value`; `condition`, if given, expresses this in another way than `==`.
  Expr bound(const Expr& value, const std::function<Expr(const Expr&)>& condition = {}) {
    const auto known = variables_.find(print_expr(value));
    if (known != variables_.end()) return known->second;
    const Expr fresh = variable_expr(fmt::format("{}{}", letter_, next_++));
    conditions_.push_back(condition ? condition(fresh) : call_expr("==", {fresh, value}));
    return variables_.emplace(print_expr(value), fresh).first->second;
  }
  void add_conditions(Rule& rule) const {
    rule.conditions.insert(rule.conditions.end(), conditions_.begin(), conditions_.end());
  }

 private:
  const char letter_;
  int64_t next_;
  std::map<std::string, Expr> variables_;  // by the text of the value
  std::vector<Expr> conditions_;
};

bool is_rank_condition(const Expr& condition, const std::string& variable, std::string_view comparison) {
  return condition.name == comparison && condition.args.size() == 2 && condition.args[0] == rank_expr(variable) &&
         condition.args[1].kind == Expr::Kind::Integer;
}

}  // namespace

Relaxation free_attribute(const OpDef& op, const std::string& name) {
  return [&op, name](const Rule& given) -> std::optional<Rule> {
    Rule rule = given;
    const std::string record = lower(op.name);
    std::set<const OpDef*> source_ops;
    std::optional<Expr> value;
    bool alike = true;
    for_each_source_term(rule, [&](Term& term) {
      if (term.op != nullptr) source_ops.insert(term.op);
      if (term.op != &op) return;
      const auto here = value_of(term, name);
      alike = alike && here && closed(*here) && (!value || *value == *here);
      value = here;
    });
    // A different value in the target depends on the value in the source.
    for_each_target_term(rule, [&](Term& term) { alike = alike && (term.op != &op || value_of(term, name) == value); });
    if (!value || !alike) return std::nullopt;
    const auto freed = [&](Term& term) {
      if (term.op == &op && value_of(term, name) == value) {
        with_record(term, record);
        forget(term, name);
      } else if (Expr* other = source_ops.contains(term.op) ? nullptr : attribute(term, name)) {
        if (*other == *value) *other = field_expr(record, name);
      }
    };
    for_each_source_term(rule, [&](Term& term) {
      if (term.op == &op) freed(term);
    });
    for_each_target_term(rule, freed);
    for_each_target_term(rule, [&](Term& term) {
      if (is_telling(*value) && term.kind == Term::Kind::Literal && term.literal == value->real)
        term = number_term(field_expr(record, name));
    });
    return rule;
  };
}

Relaxation shift_attribute(const OpDef& op, const std::string& name, const std::string& variable) {
  return [&op, name, any = variable_expr(variable)](const Rule& given) -> std::optional<Rule> {
    Rule rule = given;
    std::optional<Expr> value;
    bool alike = true;
    for_each_source_term(rule, [&](Term& term) {
      if (term.op != &op) return;
      const Expr* here = attribute(term, name);
      alike = alike && here != nullptr && is_integers(*here) && (!value || *value == *here);
      if (alike) value = *here;
    });
    if (!value || !alike) return std::nullopt;
    bool shifted = false;
    for_each_target_term(rule, [&](Term& term) {
      Expr* here = term.op == &op ? attribute(term, name) : nullptr;
      if (here == nullptr || !is_integers(*here) || here->args.size() != value->args.size()) return;
      Expr more = list_expr({});
      for (size_t i = 0; i < here->args.size(); ++i)
        more.args.push_back(integer_expr(here->args[i].integer - value->args[i].integer));
      const bool same = *here == *value;
      shifted = shifted || !same;
      *here = same ? any : call_expr("+", {any, more});
    });
    if (!shifted) return std::nullopt;
    for_each_source_term(rule, [&](Term& term) {
      if (term.op == &op) *attribute(term, name) = any;
    });
    return rule;
  };
}

Relaxation free_window(const OpDef& op) {
  return [&op](const Rule& given) -> std::optional<Rule> {
    Rule rule = given;
    const std::string name = "kernel_shape";
    std::optional<Expr> window;
    bool alike = true;
    for_each_source_term(rule, [&](Term& term) {
      const Expr* here = term.op == &op ? attribute(term, name) : nullptr;
      if (here == nullptr) return;
      alike = alike && is_integers(*here) && (!window || *window == *here);
      window = *here;
    });
    if (!window || !alike) return std::nullopt;
    int64_t size = 1;
    for (const Expr& extent : window->args) size *= extent.integer;
    const Expr variable = variable_expr("q0");
    bool changed = false;
    for_each_target_term(rule, [&](Term& term) {
      for (auto& [attr, expr] : term.attrs) {
        const std::optional<Expr> head = before_tail(expr, *window);
        if (!head) continue;
        expr = call_expr("++", {*head, variable});
        changed = true;
      }
      if (term.kind != Term::Kind::Literal || term.literal != static_cast<double>(size)) return;
      term = number_term(call_expr("prod", {variable}));
      changed = true;
    });
    if (!changed) return std::nullopt;
    for_each_source_term(rule, [&](Term& term) {
      if (term.op == &op) *attribute(term, name) = variable;
    });
    return rule;
  };
}

Relaxation free_axis(int64_t axis) {
  return [axis](const Rule& given) -> std::optional<Rule> {
    Rule rule = given;
    const Expr number = integer_expr(axis);
    const Expr list = list_expr({number});
    // The first node with the axis, in order of writing, binds it: as axis=?k, or as axes=?k.
    bool bare = false;
    bool listed = false;
    for_each_source_term(rule, [&](Term& term) {
      const Expr* one = attribute(term, "axis");
      const Expr* many = attribute(term, "axes");
      bare = bare || (!listed && one != nullptr && *one == number);
      listed = listed || (!bare && many != nullptr && *many == list);
    });
    if (!bare && !listed) return std::nullopt;
    const Expr variable = variable_expr(fmt::format("k{}", axis));
    const Expr free = bare ? variable : call_expr("at", {variable, integer_expr(0)});
    const Expr free_list = bare ? list_expr({variable}) : variable;
    const auto freed = [&](Term& term) {
      if (Expr* one = attribute(term, "axis"); one != nullptr && *one == number) *one = free;
      if (Expr* many = attribute(term, "axes"); many != nullptr && *many == list) *many = free_list;
    };
    for_each_source_term(rule, freed);
    for_each_target_term(rule, freed);
    visit_exprs(rule, [&](Expr& expr) {
      if (expr.name == "dim" && expr.args[1] == number) expr.args[1] = free;
    });
    return rule;
  };
}

Relaxation axis_from_back(int64_t axis) {
  return [axis](const Rule& given) -> std::optional<Rule> {
    Rule rule = given;
    const auto ranks = fixed_ranks(rule);
    const Expr number = integer_expr(axis);
    const Expr list = list_expr({number});
    Bindings bindings('k', 100 * axis);
    bool changed = false;
    bool known = true;
    const auto count = [&](Term& term, bool source) {
      Expr* one = attribute(term, "axis");
      Expr* many = attribute(term, "axes");
      const bool has_one = one != nullptr && *one == number;
      if (!has_one && (many == nullptr || !(*many == list))) return;
      const auto rank = rank_of(term.operands[0], ranks);
      known = known && rank.has_value();
      if (!rank) return;
      changed = true;
      const Expr counted = call_expr("-", {rank->expr, integer_expr(rank->number - axis)});
      if (!source) {
        (has_one ? *one : *many) = has_one ? counted : list_expr({counted});
      } else if (has_one) {
        *one = bindings.bound(counted, [&](const Expr& bound) {
          return call_expr("==", {call_expr("normal", {bound, rank->expr}), counted});
        });
      } else {
        *many = bindings.bound(list_expr({counted}));
      }
    };
    for_each_source_term(rule, [&](Term& term) { count(term, true); });
    for_each_target_term(rule, [&](Term& term) { count(term, false); });
    if (!changed || !known) return std::nullopt;
    visit_exprs(rule, [&](Expr& expr) {
      if (expr.name != "dim" || !(expr.args[1] == number)) return;
      const auto rank = ranks.find(expr.args[0].name.substr(1));
      if (rank != ranks.end()) expr.args[1] = integer_expr(axis - rank->second);
    });
    bindings.add_conditions(rule);
    return rule;
  };
}

Relaxation turn_from_back() {
  return [](const Rule& given) -> std::optional<Rule> {
    Rule rule = given;
    const auto ranks = fixed_ranks(rule);
    Bindings bindings('p', 0);
    bool changed = false;
    const auto count = [&](Term& term, bool source) {
      Expr* perm = attribute(term, "perm");
      const auto rank = perm == nullptr ? std::nullopt : rank_of(term.operands[0], ranks);
      if (!rank || rank->number < 2) return;
      std::vector<Expr> turned;
      for (int64_t i = 0; i < rank->number; ++i) turned.push_back(integer_expr(i));
      std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
      if (!(*perm == list_expr(turned))) return;
      const auto last = [&](int64_t n) { return call_expr("-", {rank->expr, integer_expr(n)}); };
      const Expr general = call_expr("++", {call_expr("range", {last(2)}), list_expr({last(1), last(2)})});
      *perm = source ? bindings.bound(general) : general;
      changed = true;
    };
    for_each_source_term(rule, [&](Term& term) { count(term, true); });
    for_each_target_term(rule, [&](Term& term) { count(term, false); });
    if (!changed) return std::nullopt;
    bindings.add_conditions(rule);
    return rule;
  };
}

Relaxation whole_shapes() {
  return [](const Rule& given) -> std::optional<Rule> {
    Rule rule = given;
    bool changed = false;
    for (const auto& fixed : fixed_ranks(rule)) {
      std::vector<Expr> dims;
      for (int64_t axis = 0; axis < fixed.second; ++axis) dims.push_back(dim_expr(fixed.first, axis));
      const Expr listed = list_expr(std::move(dims));
      visit_exprs(rule, [&](Expr& expr) {
        if (listed.args.empty() || !(expr == listed)) return;
        expr = call_expr("shape", {variable_expr(fixed.first)});
        changed = true;
      });
    }
    return changed ? std::optional(std::move(rule)) : std::nullopt;
  };
}

Relaxation widen_rank(const std::string& variable) {
  return [variable](const Rule& given) -> std::optional<Rule> {
    Rule rule = given;
    for (Expr& condition : rule.conditions) {
      if (!is_rank_condition(condition, variable, "==")) continue;
      // The few instances of a larger rank that generalization tries do not show enough.
      const int64_t rank = condition.args[1].integer;
      if (rank == 0 || rank >= static_cast<int64_t>(CheckBounds().max_rank)) continue;
      condition = call_expr(">=", std::move(condition.args));
      return rule;
    }
    return std::nullopt;
  };
}

Relaxation drop_rank(const std::string& variable) {
  return [variable](const Rule& given) -> std::optional<Rule> {
    Rule rule = given;
    const size_t dropped = std::erase_if(rule.conditions, [&](const Expr& each) {
      return is_rank_condition(each, variable, "==") || is_rank_condition(each, variable, ">=");
    });
    return dropped > 0 ? std::optional(std::move(rule)) : std::nullopt;
  };
}

Relaxation drop_real() {
  return [](const Rule& given) -> std::optional<Rule> {
    Rule rule = given;
    const size_t dropped = std::erase_if(rule.conditions, [](const Expr& each) { return each.name == "real"; });
    return dropped > 0 ? std::optional(std::move(rule)) : std::nullopt;
  };
}

RelaxationPlans relaxations(const Rule& rule) {
  Rule scanned = rule;
  std::vector<const OpDef*> ops;
  std::set<int64_t> axes;
  for_each_source_term(scanned, [&](Term& term) {
    if (term.op != nullptr && std::ranges::find(ops, term.op) == ops.end()) ops.push_back(term.op);
  });
  // Those below 0 are counted from the back already.
  const auto collect_axes = [&](Term& term) {
    if (const Expr* one = attribute(term, "axis"); one != nullptr && closed(*one) && one->integer >= 0)
      axes.insert(one->integer);
    if (const Expr* many = attribute(term, "axes");
        many != nullptr && closed(*many) && many->args.size() == 1 && many->args[0].integer >= 0)
      axes.insert(many->args[0].integer);
  };
  for_each_source_term(scanned, collect_axes);
  for_each_target_term(scanned, collect_axes);
  RelaxationPlans out;
  const auto add = [&](const Relaxation& relaxation, bool free, bool from_back, bool plain = true) {
    if (free) out.free.push_back(relaxation);
    if (from_back) out.from_back.push_back(relaxation);
    if (free && from_back) out.kept.push_back(relaxation);
    if (free && from_back && plain) out.plain.push_back(relaxation);
    out.all.push_back(relaxation);
  };
  add(whole_shapes(), true, true);
  for (const OpDef* op : ops) add(free_window(*op), true, true);
  for (size_t i = 0; i < ops.size(); ++i) add(shift_attribute(*ops[i], "pads", fmt::format("q{}", i + 1)), true, true);
  for (const int64_t axis : axes) add(free_axis(axis), true, false);
  for (const int64_t axis : axes) add(axis_from_back(axis), false, true);
  add(turn_from_back(), false, true);
  const auto ranks = fixed_ranks(rule);
  for (const auto& fixed : ranks) add(drop_rank(fixed.first), true, true);
  for (const auto& fixed : ranks) add(widen_rank(fixed.first), false, false);
  add(drop_real(), true, true);
  // Rare attributes come last, since the last are undone first: dilations after groups.
  for (const OpDef* op : ops)
    for (auto def = op->attrs.rbegin(); def != op->attrs.rend(); ++def)
      if (!speaks_of_axes(def->name))
        add(free_attribute(*op, def->name), true, def->name != "perm", def->name != "dilations");
  return out;
}

}  // namespace isomer
