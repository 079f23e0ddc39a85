#pragma once
// An instance while it is being made up: what is bound so far, and which of the rule's conditions that decides.

#include <set>
#include <span>
#include <unordered_map>

#include "isomer/base/function_ref.h"
#include "isomer/rules/expr.h"
#include "isomer/verify/instances.h"

namespace isomer {

/// Everything that is put in is taken out again when the continuation (`next`) returns: the generator backtracks.
class PartialInstance {
 public:
  using Next = FunctionRef<void()>;

  explicit PartialInstance(const Rule& rule);
  PartialInstance(const PartialInstance&) = delete;  // facts refer to the instance

  const Instance& instance() const { return instance_; }
  const Binding& binding() const { return binding_; }
  /// What an expression of the pattern sees: within `term...`, of this repetition.
  ExprContext context(std::optional<size_t> repetition) const { return {binding_, facts_, repetition}; }
  /// Types of values, null for absent ones.
  std::vector<const TensorType*> types(const std::vector<ValueId>& ids) const;

  /// Whether a condition asks for the variable to be a weight, or a constant of equal elements.
  bool wants_weight(const std::string& name) const { return weights_.contains(name); }
  bool wants_uniform(const std::string& name) const { return uniforms_.contains(name); }

  /// The value that a condition ?name == ... leaves to a variable that is not bound yet, where there is one that can be
  /// evaluated now.
  std::optional<ExprValue> determined(const std::string& name) const;

  void with_value(Instance::Value value, FunctionRef<void(ValueId)> next);
  /// A node of these operands with its results; `next` runs unless a condition fails.
  void with_node(const OpDef& op, const Attrs& attrs, const std::vector<ValueId>& operands,
                 std::vector<TensorType> results, FunctionRef<void(const std::vector<ValueId>&)> next);
  /// The newest node as one of the pattern's roots.
  void with_root(Next next);

  // Bindings. `next` runs unless a condition that can be decided with them does not hold.
  void bind_value(const std::string& name, ValueId id, Next next);
  void bind_attr(const std::string& name, ExprValue value, Next next);
  /// Binds; conditions are looked at when the node is put in.
  void bind_record(const std::string& name, Attrs record, Next next);
  /// One value more at the end of a sequence.
  void bind_element(const std::string& name, ValueId id, Next next);
  /// A sequence gets no more values (it may have none).
  void bind_whole(const std::string& name, Next next);
  /// The sequences of a repeated term get no more values.
  void bind_all_of(const Term& term, Next next);

 private:
  /// What an unfinished instance says about its values.
  class Facts : public ValueFacts {
   public:
    explicit Facts(const Instance& instance) : instance_(instance) {}
    const TensorType& type(ValueId value) const override;
    bool is_weight(ValueId value) const override;
    const Tensor* constant(ValueId value) const override;

   private:
    const Instance& instance_;
    mutable Tensor scratch_;
  };

  /// A condition of the rule with what it takes to decide it early.
  struct Condition {
    const Expr* expr;
    std::set<std::string> names;
    bool of_prefixes;  // false on a part of a sequence means false on all of it
    size_t open;       // how many of the names are not bound for good
    bool done = false;
  };
  /// A variable that conditions speak of.
  struct Name {
    std::vector<size_t> conditions;
    bool complete = false;  // bound for good
  };

  /// Marks the variable as bound for good; returns whether it was not.
  bool complete(const std::string& name);
  void reopen(const std::string& name);
  /// Runs `next` unless a condition that speaks of one of the names, which were bound just now, does not hold.
  void checked(std::span<const std::string> names, Next next);
  bool decides_against(size_t condition, std::vector<size_t>& decided);
  bool ready(const Condition& condition) const;
  std::vector<ValueId>& sequence(const std::string& name);
  void forget_sequence(const std::string& name);

  Instance instance_;
  const Facts facts_;
  Binding binding_;
  std::vector<Condition> conditions_;
  std::unordered_map<std::string, Name> names_;
  std::vector<std::string> records_;  // that were bound since conditions were looked at
  std::set<std::string> weights_;
  std::set<std::string> uniforms_;
};

/// The sequences that a term speaks of.
std::vector<const Term*> sequences_of(const Term& term);

}  // namespace isomer
