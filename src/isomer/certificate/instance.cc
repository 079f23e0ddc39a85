#include "isomer/certificate/instance.h"

#include <algorithm>
#include <set>

#include "isomer/ir/text.h"

namespace isomer::replay {
namespace {

/// An attribute of a node that must equal the value of an expression of the pattern.
struct Wanted {
  const Expr* expr;
  Value actual;
  Repetition repetition;
  std::string title;
};

/// One way in which the nodes seen so far agree with the pattern: the values of attribute variables and records.
struct Way {
  std::map<std::string, Value> attributes = {};
  std::map<std::string, Attrs> records = {};
  std::vector<Wanted> wanted = {};
};
/// All of them: two for a commutative operator whose operands agree in either order, none if nothing agrees.
using Ways = std::vector<Way>;

void collect_variables(const Term& term, std::set<std::string>& values, std::set<std::string>& sequences) {
  if (term.kind == Term::Kind::Value) values.insert(term.name);
  if (term.kind == Term::Kind::Sequence) sequences.insert(term.name);
  for (const Term& operand : term.operands) collect_variables(operand, values, sequences);
}

class Checker {
 public:
  Checker(const NamedGraph& named, const Rule& rule, const Application& application)
      : named_(named), graph_(named.graph()), rule_(rule), application_(application) {}

  Result<Instance> run() {
    ISOMER_CHECK(read_roots());
    ISOMER_CHECK(read_values());
    Ways ways{Way{}};
    size_t root = 0;
    for (const Term& source : rule_.sources) ways = source_ways(source, root, std::move(ways));
    if (ways.empty()) return fail("the values are not an instance of the source pattern: {}", reason_);
    if (root != roots_.size()) return fail("{} values are to be replaced, but the pattern has {}", roots_.size(), root);
    Error last;
    for (const Way& way : ways) {
      auto instance = finish(way);
      if (instance) return instance;
      last = instance.error();
    }
    return tl::unexpected<Error>(last);
  }

 private:
  // What is recorded
  // ---------------------------------------------------------------------------------------------------

  Status read_roots() {
    for (const uint64_t hash : application_.roots) {
      ISOMER_TRY(const ValueId value, named_.find(hash));
      roots_.push_back(value);
    }
    return {};
  }

  Status read_values() {
    std::set<std::string> values;
    std::set<std::string> sequences;
    for (const Term& source : rule_.sources) collect_variables(source, values, sequences);
    for (const auto& [name, hash] : application_.values) {
      ISOMER_TRY(const ValueId value, found(hash));
      if (values.erase(name) == 0) return fail("?{} is not a variable of the rule, or is bound twice", name);
      values_[name] = value;
    }
    for (const auto& [name, hashes] : application_.sequences) {
      if (sequences.erase(name) == 0) return fail("@{} is not a variable of the rule, or is bound twice", name);
      std::vector<ValueId>& list = sequences_[name];
      for (const uint64_t hash : hashes) {
        ISOMER_TRY(const ValueId value, found(hash));
        list.push_back(value);
      }
    }
    if (!values.empty()) return fail("the value of ?{} is not recorded", *values.begin());
    if (!sequences.empty()) return fail("the value of @{} is not recorded", *sequences.begin());
    return {};
  }

  Result<ValueId> found(uint64_t hash) const { return hash == 0 ? Result<ValueId>(kNoValue) : named_.find(hash); }

  // The source pattern
  // -------------------------------------------------------------------------------------------------

  bool deny(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }
  Ways refuse(std::string reason) {
    deny(std::move(reason));
    return {};
  }

  /// A source matches the next root; a repeated one as many as its sequences are long.
  Ways source_ways(const Term& source, size_t& root, Ways ways) {
    const auto copies = source.repeated ? length(source) : std::optional<size_t>(1);
    if (!copies || *copies == 0) return refuse("a repeated source matches no value");
    for (size_t i = 0; i < *copies; ++i) {
      if (root >= roots_.size()) return refuse("there are fewer values to be replaced than the pattern has");
      const NodeId id = graph_.producer(roots_[root]);
      const Node& node = graph_.node(id);
      for (uint32_t r = 0; r < node.num_results; ++r, ++root)
        if (root >= roots_.size() || roots_[root] != node.result(r))
          return refuse("the results of a node are not replaced together and in order");
      Ways next;
      for (const Way& way : ways)
        append(next, node_ways(source, id, source.repeated ? Repetition(i) : std::nullopt, way));
      ways = std::move(next);
    }
    return ways;
  }

  static void append(Ways& ways, Ways more) { std::ranges::move(more, std::back_inserter(ways)); }

  /// Returns the length of the sequences in a term; nothing if there are none, or if their lengths differ.
  std::optional<size_t> length(const Term& term) const {
    std::set<std::string> values;
    std::set<std::string> sequences;
    collect_variables(term, values, sequences);
    std::optional<size_t> out;
    for (const std::string& name : sequences) {
      const size_t size = sequences_.at(name).size();
      if (out && *out != size) return std::nullopt;
      out = size;
    }
    return out;
  }

  Ways node_ways(const Term& term, NodeId id, Repetition repetition, const Way& before) {
    const Node& node = graph_.node(id);
    if (node.op != term.op)
      return refuse(fmt::format("there is a {} where {} is expected", node.op->name, term.op->name));
    Way way = before;
    if (!attributes(term, node, repetition, way)) return {};
    const auto operands = graph_.operands(node);
    Ways ways = operand_ways(term, operands, repetition, way);
    if (node.op->commutative && operands.size() == 2 && operands[0] != operands[1]) {
      const ValueId swapped[] = {operands[1], operands[0]};
      append(ways, operand_ways(term, swapped, repetition, way));
    }
    return ways;
  }

  /// `name=?a` binds ?a, `name=expression` is compared later, and `..c` binds all others. Without `..c`, all others
  /// must have their presets.
  bool attributes(const Term& term, const Node& node, Repetition repetition, Way& way) {
    Attrs rest = node.attrs;
    for (const auto& [name, expr] : term.attrs) {
      const AttrValue* actual = node.attrs.find(name);
      if (actual == nullptr) return deny(node.op->name + " has no attribute " + name);
      rest = rest.without(name);
      const bool variable = expr.kind == Expr::Kind::Variable && expr.name[0] == '?';
      if (variable && !values_.contains(expr.name.substr(1))) {
        if (!stands_for(expr.name.substr(1), value_of(*actual), way)) return false;
      } else {
        way.wanted.push_back({&expr, value_of(*actual), repetition, name + " of " + node.op->name});
      }
    }
    if (!term.rest.empty()) {
      const auto [known, fresh] = way.records.emplace(term.rest, rest);
      if (!fresh && !(known->second == rest)) return deny(".." + term.rest + " stands for two records");
      return true;
    }
    for (const auto& [name, value] : rest.entries()) {
      const AttrDef* def = node.op->find_attr(name);
      if (def == nullptr || !def->preset || !(*def->preset == value))
        return deny(fmt::format("{} of {} is not its preset", name, node.op->name));
    }
    return true;
  }

  bool stands_for(const std::string& name, Value value, Way& way) {
    const auto known = way.attributes.find(name);
    if (known == way.attributes.end()) {
      way.attributes.emplace(name, std::move(value));
      return true;
    }
    if (!equal(known->second, value)) return deny("?" + name + " stands for two attributes");
    return true;
  }

  /// The operands of the pattern match the node's operands from left to right.
  Ways operand_ways(const Term& term, std::span<const ValueId> ids, Repetition repetition, const Way& before) {
    Ways ways{before};
    for (size_t i = 0; i < term.operands.size(); ++i) {
      const Term& operand = term.operands[i];
      const size_t behind = term.operands.size() - i - 1;
      const auto width = width_of(operand, ids, behind, repetition);
      if (!width || *width > ids.size())
        return refuse(fmt::format("{} has fewer operands than the pattern", term.op->name));
      Ways next;
      for (const Way& way : ways) append(next, slice_ways(operand, ids.first(*width), repetition, way));
      ways = std::move(next);
      if (ways.empty()) return {};
      ids = ids.subspan(*width);
    }
    if (!ids.empty()) return refuse(fmt::format("{} has more operands than the pattern", term.op->name));
    return ways;
  }

  /// Returns the number of operands that a term of the pattern matches.
  std::optional<size_t> width_of(const Term& term, std::span<const ValueId> left, size_t behind,
                                 Repetition repetition) {
    if (term.repeated) {
      if (const auto copies = length(term)) return copies;
      return left.size() > behind ? std::optional(left.size() - behind) : std::nullopt;
    }
    if (term.kind == Term::Kind::Sequence && !repetition) return sequences_.at(term.name).size();
    return spreads(term, left) ? graph_.producer_node(left[0]).num_results : 1;
  }

  /// Returns whether all results of one node match the term (a Split below a Concat).
  bool spreads(const Term& term, std::span<const ValueId> ids) const {
    return term.kind == Term::Kind::Apply && term.op->min_results != term.op->max_results && !ids.empty() &&
           ids[0] != kNoValue && graph_.producer_node(ids[0]).num_results > 1;
  }

  Ways slice_ways(const Term& term, std::span<const ValueId> ids, Repetition repetition, const Way& before) {
    if (term.repeated) {
      if (ids.empty()) return refuse("a repeated term matches no value");
      Ways ways{before};
      for (size_t i = 0; i < ids.size(); ++i) {
        Ways next;
        for (const Way& way : ways) append(next, value_ways(term, ids[i], i, way));
        ways = std::move(next);
      }
      return ways;
    }
    if (term.kind == Term::Kind::Sequence && !repetition) {
      if (std::ranges::equal(ids, sequences_.at(term.name))) return {before};
      return refuse("the operands are not what @" + term.name + " stands for");
    }
    if (spreads(term, ids)) {
      const Node& node = graph_.producer_node(ids[0]);
      for (uint32_t r = 0; r < node.num_results; ++r)
        if (ids[r] != node.result(r)) return refuse("the results of a " + node.op->name + " are not all there");
      return node_ways(term, graph_.producer(ids[0]), repetition, before);
    }
    return value_ways(term, ids[0], repetition, before);
  }

  Ways value_ways(const Term& term, ValueId value, Repetition repetition, const Way& before) {
    switch (term.kind) {
      case Term::Kind::Value:
        if (values_.at(term.name) == value) return {before};
        return refuse("there is another value where ?" + term.name + " is expected");
      case Term::Kind::Sequence: {
        const std::vector<ValueId>& list = sequences_.at(term.name);
        if (repetition && *repetition < list.size() && list[*repetition] == value) return {before};
        return refuse("there is another value where an element of @" + term.name + " is expected");
      }
      case Term::Kind::Literal: {
        const Tensor* tensor = value == kNoValue ? nullptr : graph_.constant(value);
        const auto number = tensor == nullptr ? std::nullopt : uniform_number(*tensor);
        if (number && *number == term.literal) return {before};
        return refuse(fmt::format("an operand is not the constant {}", term.literal));
      }
      case Term::Kind::Integers:
        return integers(term, value, before);
      case Term::Kind::Apply:
        break;
    }
    if (value == kNoValue) return refuse("an operand is absent");
    if (graph_.producer_node(value).num_results != 1) return refuse("one of several results of a node");
    return node_ways(term, graph_.producer(value), repetition, before);
  }

  /// {?i}: a constant list of integers.
  Ways integers(const Term& term, ValueId value, const Way& before) {
    const Tensor* tensor = value == kNoValue ? nullptr : graph_.constant(value);
    if (tensor == nullptr || tensor->dtype() != DType::Int64 || tensor->dims().size() != 1)
      return refuse("an operand is not a constant list of integers");
    const auto elements = tensor->data<int64_t>();
    Way way = before;
    if (!stands_for(term.integers.name.substr(1), Dims(elements.begin(), elements.end()), way)) return {};
    return {way};
  }

  // Conditions
  // ---------------------------------------------------------------------------------------------------------

  Fact fact(ValueId value) const {
    if (value == kNoValue) return {};
    const bool derived = graph_.is_constant_derived(value) && graph_.constant(value) == nullptr;
    return {&graph_.type(value), graph_.constant(value), graph_.is_weight(value), value, derived ? &graph_ : nullptr};
  }

  /// Checks what needs all bindings: attributes given by expressions, free parameters, recorded values, conditions.
  Result<Instance> finish(const Way& way) const {
    Instance out{rule_, roots_, {{}, {}, way.attributes, way.records}};
    for (const auto& [name, value] : values_) out.variables.values[name] = fact(value);
    for (const auto& [name, list] : sequences_) {
      std::vector<Fact>& facts = out.variables.sequences[name];
      for (const ValueId value : list) facts.push_back(fact(value));
    }
    for (const Wanted& wanted : way.wanted) {
      ISOMER_TRY(const Value value, evaluate(*wanted.expr, out.variables, wanted.repetition));
      if (!equal(value, wanted.actual))
        return fail("{} is {}, but the pattern requires {}", wanted.title, text_of(wanted.actual), text_of(value));
    }
    for (const Choice& choice : rule_.choices) ISOMER_CHECK(choose(choice, out.variables));
    ISOMER_CHECK(check_recorded(out.variables));
    for (const Expr& condition : rule_.conditions) ISOMER_CHECK(holds(condition, out.variables));
    return out;
  }

  const std::string* recorded(const std::string& name) const {
    for (const auto& [key, text] : application_.attributes)
      if (key == name) return &text;
    return nullptr;
  }

  /// Checks that a free parameter is one of its candidates: the recorded one.
  Status choose(const Choice& choice, Variables& variables) const {
    const std::string* text = recorded("?" + choice.name);
    if (text == nullptr) return fail("the free parameter ?{} is not recorded", choice.name);
    ISOMER_TRY(const Value candidates, evaluate(choice.candidates, variables, std::nullopt));
    const Dims* list = std::get_if<Dims>(&candidates);
    if (list == nullptr) return fail("the candidates for ?{} are not a list", choice.name);
    for (const Dim& candidate : *list) {
      if (candidate.str() != *text) continue;
      variables.attributes[choice.name] = candidate;
      return {};
    }
    return fail("?{} = {} is not among {}", choice.name, *text, shape_str(*list));
  }

  Status check_recorded(const Variables& variables) const {
    for (const auto& [name, text] : application_.attributes) {
      std::string actual;
      if (name.starts_with("..")) {
        const auto record = variables.records.find(name.substr(2));
        if (record != variables.records.end()) actual = text_of(record->second);
      } else {
        const auto value = variables.attributes.find(name.substr(1));
        if (value != variables.attributes.end()) actual = text_of(value->second);
      }
      if (actual != text) return fail("{} is {}, but {} is recorded", name, actual.empty() ? "nothing" : actual, text);
    }
    return {};
  }

  const NamedGraph& named_;
  const Graph& graph_;
  const Rule& rule_;
  const Application& application_;
  std::vector<ValueId> roots_;
  std::map<std::string, ValueId> values_;
  std::map<std::string, std::vector<ValueId>> sequences_;
  std::string reason_;  // the last mismatch
};

}  // namespace

NamedGraph::NamedGraph(const Graph& graph) : graph_(graph) {
  for (ValueId value = 0; value < graph.num_values(); ++value) values_.emplace(graph.value_hash(value), value);
}

Result<ValueId> NamedGraph::find(uint64_t hash) const {
  const auto found = values_.find(hash);
  if (found == values_.end()) return fail("the graph has no value {:016x}", hash);
  return found->second;
}

Result<Instance> check_instance(const NamedGraph& graph, const Rule& rule, const Application& application) {
  return Checker(graph, rule, application).run();
}

}  // namespace isomer::replay
