#include "isomer/proof/instantiation.h"

#include <algorithm>
#include <cmath>

#include "isomer/check/generality.h"
#include "isomer/check/partial_instance.h"
#include "isomer/proof/rule_conditions.h"

namespace isomer {
namespace {

bool asks_for_reals(const Expr& condition) { return condition.kind == Expr::Kind::Call && condition.name == "real"; }

/// Returns the smallest number that is allowed in a list; nothing if any is.
std::optional<int64_t> min_entry(const AttrDef& def, const Instance::Node& node) {
  switch (def.domain) {
    case AttrDomain::Starts:
    case AttrDomain::Ends:
    case AttrDomain::Pads:
      return std::nullopt;
    case AttrDomain::WindowPads:
    case AttrDomain::Parts:
    case AttrDomain::OutputPadding:
    case AttrDomain::Shape:
      return 0;
    case AttrDomain::SameSize: {
      const AttrValue* literal = node.attrs.find("allowzero");  // otherwise 0 copies an extent
      return literal != nullptr && std::get<int64_t>(*literal) != 0 ? 0 : 1;
    }
    default:
      return 1;
  }
}

/// Whether Scope names the index of a sum like this.
bool is_summation_index(const std::string& symbol) {
  return symbol.size() > 1 && symbol[0] == 'k' && symbol.find_first_not_of("0123456789", 1) == std::string::npos;
}

}  // namespace

Instantiation::Instantiation(Scope& scope, const Rule& rule, const Instance& instance, std::vector<int64_t> choices)
    : scope_(scope), rule_(rule), instance_(&instance), choices_(std::move(choices)) {
  real_ =
      std::ranges::any_of(rule.conditions, asks_for_reals) ||
      std::ranges::any_of(instance.nodes, [](const Instance::Node& node) { return node.op->has(Trait::RealsOnly); });
}

Instantiation::Instantiation(Scope& scope, const Rule& rule, const Binding& match, const ValueFacts& facts)
    : scope_(scope), rule_(rule) {
  const auto real = [&](ValueId id) {
    const DType dtype = id == kNoValue ? DType::Undefined : facts.type(id).dtype;
    return dtype == DType::Float || dtype == DType::Double;
  };
  for (const auto& [name, id] : match.values) real_ = real_ || real(id);
  for (const auto& [name, ids] : match.sequences) real_ = real_ || std::ranges::any_of(ids, real);
  for (const auto& [name, id] : match.values) binding_.variables.emplace(name, known(id, facts));
  for (const auto& [name, ids] : match.sequences) {
    Ids& out = binding_.sequences[name];
    for (const ValueId id : ids) out.push_back(known(id, facts));
  }
  for (const auto& [name, value] : match.attrs) bind(name, value);
  for (const auto& [name, record] : match.records) {
    auto& fields = binding_.records[name];
    for (const auto& [field, value] : record.entries()) {
      binding_.attrs.emplace(fmt::format("{}.{}", name, field), fixed_attr(value));
      fields.push_back(field);
    }
  }
}

void Instantiation::bind(const std::string& name, const ExprValue& value) {
  if (const auto* dim = std::get_if<Dim>(&value)) {
    binding_.attrs.emplace(name, *dim);
  } else if (const auto* list = std::get_if<Dims>(&value)) {
    binding_.attrs.emplace(name, *list);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    binding_.attrs.emplace(name, *text);
  } else if (const auto* number = std::get_if<double>(&value)) {
    binding_.attrs.emplace(name, exactly(*number));
  } else if (const auto* tensor = std::get_if<Tensor>(&value)) {
    binding_.attrs.emplace(name, fixed_attr(*tensor));
  } else {
    throw GaveUp{"?" + name + " is bound to what proofs do not cover"};
  }
}

/// Returns a value of the graph as an unknown tensor of its shape; the same value gives the same tensor.
ValueId Instantiation::known(ValueId value, const ValueFacts& facts) {
  if (value == kNoValue) return kNoValue;
  const std::string label = "v" + std::to_string(value);
  const TensorType& type = facts.type(value);
  if (!type.known()) throw GaveUp{"a type that is not known"};
  SymbolicTensor tensor{*type.shape, nullptr, type.dtype == DType::Float || type.dtype == DType::Double};
  tensor.type = static_cast<int64_t>(type.dtype);
  std::set<std::string> symbols;
  for (const Dim& dim : tensor.shape) {
    symbols_of(dim, symbols);
    scope_.assume(at_most(0, dim));
  }
  for (const std::string& symbol : symbols) {
    if (is_summation_index(symbol)) throw GaveUp{"the model calls a dimension " + symbol + ", as proofs do"};
    // ceil(H / 2) is -floor(-H / 2).
    if (!symbol.starts_with("floor(")) scope_.assume(at_most(0, Dim::symbol(symbol)));
  }
  const Tensor* constant = facts.constant(value);
  std::optional<Element> uniform;
  if (constant != nullptr)
    if (const auto number = uniform_value(*constant); number && std::isfinite(*number)) uniform = Rational(*number);
  tensor.at = [=](const std::vector<Dim>& index) { return uniform ? *uniform : Element::input(label, index); };
  if (constant != nullptr && type.dtype == DType::Int64 && type.rank() <= 1) {
    const auto data = constant->data<int64_t>();
    const SymbolicList list = known_positions(scope_, Dims(data.begin(), data.end()));
    tensor.integer = [list](const std::vector<Dim>& index) { return list.at(index.empty() ? Dim(0) : index[0]); };
  }
  return add(std::move(tensor), type.dtype, facts.is_weight(value), uniform);
}

ValueId Instantiation::add(SymbolicTensor tensor, DType dtype, bool weight, std::optional<Element> uniform) {
  binding_.values.push_back({std::move(tensor), dtype, weight, std::move(uniform)});
  return static_cast<ValueId>(binding_.values.size() - 1);
}

/// Returns the unknown tensor for this label of the instance.
ValueId Instantiation::variable(const std::string& label) {
  using Kind = Instance::Value::Kind;
  const auto found = std::ranges::find_if(instance_->values, [&](const Instance::Value& value) {
    return value.kind != Kind::Result && value.name == label;
  });
  if (found == instance_->values.end()) throw GaveUp{"no value is called " + label};
  if (found->kind == Kind::Indices) throw GaveUp{"lists of positions"};
  SymbolicTensor tensor;
  for (size_t axis = 0; axis < found->type.rank(); ++axis) {
    tensor.shape.push_back(Dim::symbol(label + "." + std::to_string(axis)));
    scope_.assume(at_most(0, tensor.shape.back()));
  }
  tensor.real = real_ && found->type.dtype == DType::Double;
  tensor.type = Dim::symbol(label + ".type");
  std::optional<Element> uniform;
  if (found->kind == Kind::Uniform) uniform = number_of(label, found->number, tensor.real);
  tensor.at = [=](const std::vector<Dim>& index) { return uniform ? *uniform : Element::input(label, index); };
  return add(std::move(tensor), found->type.dtype, found->kind != Kind::Input, uniform);
}

/// Returns the number that all elements of a constant equal. `sample` is the instance's number: it stands for others
/// only if the rule names it.
Element Instantiation::number_of(const std::string& label, double sample, bool real) const {
  const std::string name = "?" + label;
  if (names_value(rule_, name)) return Rational(sample);
  Element unknown = Element::input(label, {});
  const auto positive = [&](const Expr& condition) { return states_nonnegative(condition, name); };
  if (real && std::ranges::any_of(rule_.conditions, positive)) return relu(unknown);  // relu(c) = c
  if (!asks_for(rule_, "uniform", name)) throw GaveUp{"a condition on the number " + name};
  return unknown;
}

/// Returns the number of elements of a sequence in the instance.
size_t Instantiation::count(const std::string& sequence) const {
  if (instance_ == nullptr) throw GaveUp{"the match does not say how long " + sequence + " is"};
  const auto has = [&](size_t i) {
    return std::ranges::any_of(
        instance_->values, [&](const Instance::Value& value) { return value.name == sequence + std::to_string(i); });
  };
  size_t n = 0;
  while (has(n)) ++n;
  return n;
}

size_t Instantiation::repetitions(const Term& term) const {
  size_t n = 0;
  for (const Term* inner : sequences_of(term)) {
    const auto bound = binding_.sequences.find(inner->name);
    n = std::max(n, bound == binding_.sequences.end() ? count(inner->name) : bound->second.size());
  }
  return n;
}

Instantiation::Ids Instantiation::joined(const std::vector<Term>& terms, FunctionRef<Ids(const Term&)> values_of) {
  Ids out;
  for (const Term& term : terms) {
    const Ids ids = values_of(term);
    out.insert(out.end(), ids.begin(), ids.end());
  }
  return out;
}

Instantiation::Ids Instantiation::repeated(size_t n, FunctionRef<Ids()> once) {
  Ids out;
  const auto outer = repetition_;
  for (size_t i = 0; i < n; ++i) {
    repetition_ = i;
    const Ids ids = once();
    out.insert(out.end(), ids.begin(), ids.end());
  }
  repetition_ = outer;
  return out;
}

// The source ----------------------------------------------------------------------------------------------------------

std::vector<SymbolicTensor> Instantiation::source() {
  if (instance_ == nullptr) {  // a match satisfies the conditions
    in_source_ = true;
    std::vector<SymbolicTensor> out = tensors(all_sources());
    in_source_ = false;
    return out;
  }
  // Once to bind only the variables, and again when the conditions are known.
  binding_only_ = true;
  all_sources();
  binding_only_ = false;
  for (size_t i = 0; i < rule_.choices.size(); ++i) binding_.attrs[rule_.choices[i].name] = Dim(choices_[i]);
  const Symbols symbols(scope_, binding_);
  for (const Expr& condition : rule_.conditions) {
    // That a number is positive is part of it, or not used: a proof without the condition is stronger.
    const bool positive = condition.kind == Expr::Kind::Call && !condition.args.empty() &&
                          !condition.args[0].args.empty() &&
                          states_nonnegative(condition, condition.args[0].args[0].name);
    if (!positive) scope_.assume(symbols.condition(condition));
  }
  next_node_ = 0;
  return tensors(all_sources());
}

Instantiation::Ids Instantiation::all_sources() {
  return joined(rule_.sources, [&](const Term& term) { return instance_ == nullptr ? built(term) : matched(term); });
}

Instantiation::Ids Instantiation::matched(const Term& term) {
  if (!term.repeated) return matched_once(term);
  Ids out = repeated(repetitions(term), [&] { return matched_once(term); });
  repetition_.reset();
  return out;
}

ValueId Instantiation::element_of(const std::string& sequence) {
  Ids& ids = binding_.sequences[sequence];
  if (*repetition_ == ids.size()) ids.push_back(variable(sequence + std::to_string(ids.size())));
  return ids.at(*repetition_);
}

Instantiation::Ids Instantiation::matched_once(const Term& term) {
  switch (term.kind) {
    case Term::Kind::Apply:
      return matched_node(term);
    case Term::Kind::Integers:
      throw GaveUp{"a list of positions that is not an operand"};
    case Term::Kind::Literal: {
      // A constant of any shape: the instance's constant gives the rank.
      const Instance::Node& node = instance_->nodes.at(next_node_);
      const auto literal = std::ranges::find_if(node.operands, [&](ValueId id) {
        return id != kNoValue && instance_->values[id].kind == Instance::Value::Kind::Uniform &&
               instance_->values[id].name.empty() && instance_->values[id].number == term.literal;
      });
      if (literal == node.operands.end()) throw GaveUp{"a literal within a term"};
      SymbolicTensor tensor;
      for (size_t axis = 0; axis < instance_->values[*literal].type.rank(); ++axis) {
        tensor.shape.push_back(Dim::symbol(fmt::format("literal{}.{}", next_node_, axis)));
        scope_.assume(at_most(0, tensor.shape.back()));
      }
      tensor.real = real_;
      Element number = Rational(term.literal);
      tensor.at = [=](const std::vector<Dim>&) { return number; };
      return {add(std::move(tensor), instance_->values[*literal].type.dtype, true, Element(Rational(term.literal)))};
    }
    case Term::Kind::Value: {
      const auto bound = binding_.variables.find(term.name);
      if (bound != binding_.variables.end()) return {bound->second};
      const ValueId id = variable(term.name);
      binding_.variables.emplace(term.name, id);
      return {id};
    }
    case Term::Kind::Sequence:
      break;
  }
  if (repetition_) return {element_of(term.name)};
  if (!binding_.sequences.contains(term.name)) {
    Ids ids;
    for (size_t i = 0; i < count(term.name); ++i) ids.push_back(variable(term.name + std::to_string(i)));
    binding_.sequences.emplace(term.name, std::move(ids));
  }
  return binding_.sequences.at(term.name);
}

Instantiation::Ids Instantiation::matched_node(const Term& term) {
  Ids operands;
  for (const Term& operand : term.operands) {
    const Ids ids =
        operand.kind == Term::Kind::Integers ? Ids{matched_list(operand, term, operands)} : matched(operand);
    operands.insert(operands.end(), ids.begin(), ids.end());
  }
  const size_t number = next_node_++;
  if (number >= instance_->nodes.size() || instance_->nodes[number].op != term.op)
    throw GaveUp{"another order of nodes"};
  const Instance::Node& node = instance_->nodes[number];
  if (binding_only_) {
    source_attrs(term, node, number);
    return Ids(node.num_results, kNoValue);
  }
  return run(*term.op, source_attrs(term, node, number), operands, node.num_results,
             instance_->values[node.first_result].type.dtype);
}

/// Returns a list of positions along the axis of the first operand that the operator names.
ValueId Instantiation::matched_list(const Term& term, const Term& parent, const Ids& operands) {
  const std::string name = term.integers.name.substr(1);
  const Dim open_extent = Dim::symbol(name + ".axis");  // of an operand that is computed when variables are bound
  const bool computed = parent.operands.at(0).kind == Term::Kind::Apply;
  const auto bound = binding_.lists.find(name);
  // Where a list occurs again, the axis may have another extent.
  const bool binds = list_binders_.try_emplace(name, next_node_).first->second == next_node_;
  if (bound != binding_.lists.end() && !(computed && binds)) return list_tensor(bound->second);
  const auto axis = std::ranges::find_if(parent.attrs, [](const auto& attr) { return attr.first == "axis"; });
  if (axis == parent.attrs.end() || axis->second.kind != Expr::Kind::Integer || axis->second.integer < 0)
    throw GaveUp{"positions along an axis that is not known"};
  const auto extent_of = [&](ValueId id) {
    const auto& shape = binding_.values[id].tensor.shape;
    const auto at = static_cast<size_t>(axis->second.integer);
    if (at >= shape.size()) throw GaveUp{"no such axis"};
    return shape[at];
  };
  if (bound != binding_.lists.end()) {
    scope_.assume(equal(open_extent, extent_of(operands.at(0))));
    return list_tensor(bound->second);
  }
  SymbolicList list{Dim::symbol(name + ".length"), nullptr, name, counts_up(rule_, term.integers.name)};
  scope_.assume(at_most(0, list.length));
  const Dim extent = computed ? open_extent : extent_of(operands.at(0));
  const Dim min = asks_for(rule_, "nonnegative", term.integers.name) ? Dim(0) : Dim(0) - extent;
  if (list.counts) {
    scope_.assume(at_most(list.length, extent));
    list.at = [](const Dim& index) { return index; };
  } else {
    list.at = [scope = &scope_, name, extent, min](const Dim& index) {
      return scope->entry(name, index,
                          [=](const Dim& entry) { return std::vector<Formula>{within(min, entry, extent)}; });
    };
    if (!asks_for(rule_, "distinct", term.integers.name)) list.name.clear();
  }
  binding_.lists.emplace(name, list);
  return list_tensor(list);
}

ValueId Instantiation::list_tensor(const SymbolicList& list) {
  SymbolicTensor tensor{{list.length}, nullptr, false};
  tensor.integer = [at = list.at](const std::vector<Dim>& index) { return at(index[0]); };
  tensor.at = [](const std::vector<Dim>&) -> Element { throw GaveUp{"positions as elements"}; };
  return add(std::move(tensor), DType::Int64, true, std::nullopt);
}

/// Returns the attributes of a node. An attribute that the pattern leaves open, or whose value it binds, is unknown if
/// proofs are general in it.
std::map<std::string, SymbolicAttr> Instantiation::source_attrs(const Term& term, const Instance::Node& node,
                                                                size_t number) {
  std::map<std::string, SymbolicAttr> out;
  const Symbols symbols(scope_, binding_);
  const bool record_known = binding_.records.contains(term.rest);
  for (const AttrDef& def : term.op->attrs) {
    const std::string label = fmt::format("n{}.{}", number, def.name);
    const AttrValue* value = node.attrs.find(def.name);
    const auto given = std::ranges::find_if(term.attrs, [&](const auto& attr) { return attr.first == def.name; });
    if (given != term.attrs.end()) {
      const Expr& expr = given->second;
      const std::string variable = expr.kind == Expr::Kind::Variable ? expr.name.substr(1) : "";
      const bool bound = variable.empty() || binding_.attrs.contains(variable);
      if (!bound && value == nullptr) throw GaveUp{"a variable for an attribute that is absent"};
      if (!bound) {
        const bool named = names_value(rule_, expr.name);
        binding_.attrs.emplace(variable, named ? fixed_attr(*value) : unknown(def, *value, node, label));
      }
      // It may depend on a variable that an outer node binds.
      if (!binding_only_) out.emplace(def.name, symbols.attribute(expr, repetition_));
    } else if (term.rest.empty()) {
      if (value != nullptr) out.emplace(def.name, fixed_attr(*value));
    } else {
      const std::string field = term.rest + "." + def.name;
      if (!record_known && value != nullptr) {
        binding_.attrs.emplace(field, unknown(def, *value, node, label));
        binding_.records[term.rest].push_back(def.name);
      }
      if (const auto known = binding_.attrs.find(field); known != binding_.attrs.end())
        out.emplace(def.name, known->second);
    }
  }
  if (!term.rest.empty()) binding_.records.try_emplace(term.rest);
  return out;
}

SymbolicAttr Instantiation::unknown(const AttrDef& def, const AttrValue& value, const Instance::Node& node,
                                    const std::string& name) {
  switch (generality(def)) {
    case Generality::Fixed:
      return fixed_attr(value);
    case Generality::Number:
      return Element::input(name, {});
    case Generality::Integer: {
      Dim symbol = Dim::symbol(name);
      scope_.assume(at_most(1, symbol));
      return symbol;
    }
    case Generality::Integers:
      break;
  }
  std::vector<Dim> out;
  const std::optional<int64_t> min = min_entry(def, node);
  for (const int64_t entry : std::get<Ints>(value)) {
    if (lists_extents(def) && entry <= 0) {
      out.emplace_back(entry);
      continue;
    }
    out.push_back(Dim::symbol(fmt::format("{}.{}", name, out.size())));
    if (min) scope_.assume(at_most(*min, out.back()));
  }
  return out;
}

// The target ----------------------------------------------------------------------------------------------------------

std::vector<SymbolicTensor> Instantiation::target() {
  for (const Let& let : rule_.lets) {
    Ids ids = built(let.term);
    if (let.sequence)
      binding_.sequences.emplace(let.name, std::move(ids));
    else
      binding_.variables.emplace(let.name, ids.at(0));
  }
  return tensors(joined(rule_.targets, [&](const Term& term) { return built(term); }));
}

Instantiation::Ids Instantiation::built(const Term& term) {
  if (!term.repeated) return built_once(term);
  const size_t n = repetitions(term);
  for (const Term* inner : sequences_of(term))
    if (binding_.sequences.at(inner->name).size() != n) throw Refused{};
  return repeated(n, [&] { return built_once(term); });
}

Instantiation::Ids Instantiation::built_once(const Term& term) {
  switch (term.kind) {
    case Term::Kind::Value:
      return {binding_.variables.at(term.name)};
    case Term::Kind::Sequence:
      if (repetition_) return {binding_.sequences.at(term.name).at(*repetition_)};
      return binding_.sequences.at(term.name);
    case Term::Kind::Literal: {
      if (in_source_) throw GaveUp{"a number in the source, which stands for a constant of any shape"};
      if (!real_ && term.literal != std::floor(term.literal)) throw GaveUp{"a fraction among what may be integers"};
      Element number = Rational(term.literal);
      return {add({{}, [=](const std::vector<Dim>&) { return number; }, real_}, DType::Double, true,
                  Element(Rational(term.literal)))};
    }
    case Term::Kind::Integers:
      return {list_tensor(Symbols(scope_, binding_).list(term.integers))};
    case Term::Kind::Apply:
      break;
  }
  return built_node(term);
}

Instantiation::Ids Instantiation::built_node(const Term& term) {
  const Ids operands = joined(term.operands, [&](const Term& operand) { return built(operand); });
  std::map<std::string, SymbolicAttr> attrs;
  const Symbols symbols(scope_, binding_);
  for (const auto& [name, expr] : term.attrs) attrs.emplace(name, symbols.attribute(expr, repetition_));
  if (!term.rest.empty()) {
    for (const std::string& name : binding_.records.at(term.rest))
      if (term.op->find_attr(name) != nullptr) attrs.try_emplace(name, binding_.attrs.at(term.rest + "." + name));
  } else {
    for (const AttrDef& def : term.op->attrs)
      if (def.preset) attrs.try_emplace(def.name, fixed_attr(*def.preset));
  }
  size_t num_results = 1;
  if (const auto split = attrs.find("split"); split != attrs.end())
    if (const auto* sizes = std::get_if<std::vector<Dim>>(&split->second))
      num_results = std::max<size_t>(1, sizes->size());
  const DType dtype = operands.empty() ? DType::Double : binding_.values[operands[0]].dtype;
  return run(*term.op, std::move(attrs), operands, num_results, dtype);
}

Instantiation::Ids Instantiation::run(const OpDef& op, std::map<std::string, SymbolicAttr> attrs, const Ids& operands,
                                      size_t num_results, DType dtype) {
  if (op.axiom == nullptr) throw GaveUp{op.name + " has no axiom"};
  Axiom axiom{scope_, op.name, std::move(attrs), {}, num_results, {}, real_};
  for (const ValueId id : operands)
    axiom.operands.push_back(id == kNoValue ? std::nullopt : std::optional(binding_.values[id].tensor));
  op.axiom(axiom);
  Ids out;
  for (SymbolicTensor& result : axiom.results) out.push_back(add(std::move(result), dtype, false, std::nullopt));
  return out;
}

std::vector<SymbolicTensor> Instantiation::tensors(const Ids& ids) const {
  std::vector<SymbolicTensor> out;
  out.reserve(ids.size());
  for (const ValueId id : ids) out.push_back(binding_.values[id].tensor);
  return out;
}

}  // namespace isomer
