#pragma once
// An instance that is being generated: what is bound so far, and which of the rule's conditions that decides.

#include <set>
#include <span>
#include <unordered_map>

#include "isomer/base/function_ref.h"
#include "isomer/check/instances.h"
#include "isomer/rules/expr.h"

namespace isomer {

/// Everything that is added is removed again when the continuation (`next`) returns: the generator backtracks.
class PartialInstance {
 public:
  using Next = FunctionRef<void()>;

  explicit PartialInstance(const Rule& rule);
  PartialInstance(const PartialInstance&) = delete;  // facts refer to the instance

  const Instance& instance() const { return instance_; }
  const Binding& binding() const { return binding_; }
  /// Returns the context for evaluating an expression of the pattern; within `term...`, for this repetition.
  ExprContext context(std::optional<size_t> repetition) const { return {binding_, facts_, repetition}; }
  /// Types of values; nullptr for absent ones.
  std::vector<const TensorType*> types(const std::vector<ValueId>& ids) const;

  /// Returns whether a condition requires that the variable is a weight, or a constant of equal elements.
  bool wants_weight(const std::string& name) const { return weights_.contains(name); }
  bool wants_uniform(const std::string& name) const { return uniforms_.contains(name); }

  /// Returns the value that a condition ?name == ... requires for an unbound variable, if there is such a condition
  /// that can be evaluated now.
  std::optional<ExprValue> determined(const std::string& name) const;

  void with_value(Instance::Value value, FunctionRef<void(ValueId)> next);
  /// Adds a node with these operands and results; `next` runs unless a condition fails.
  void with_node(const OpDef& op, const Attrs& attrs, const std::vector<ValueId>& operands,
                 std::vector<TensorType> results, FunctionRef<void(const std::vector<ValueId>&)> next);
  /// Marks the newest node as one of the pattern's roots.
  void with_root(Next next);

  // Binds a variable. `next` runs unless a condition that can now be decided does not hold.
  void bind_value(const std::string& name, ValueId id, Next next);
  void bind_attr(const std::string& name, ExprValue value, Next next);
  /// Binds a record; conditions are checked when the node is added.
  void bind_record(const std::string& name, Attrs record, Next next);
  /// Appends one value to a sequence.
  void bind_element(const std::string& name, ValueId id, Next next);
  /// Marks a sequence as complete (it may be empty).
  void bind_whole(const std::string& name, Next next);
  /// Marks the sequences of a repeated term as complete.
  void bind_all_of(const Term& term, Next next);

 private:
  /// The facts that an unfinished instance provides about its values.
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

  /// A condition of the rule, with the data to decide it early.
  struct Condition {
    const Expr* expr;
    std::set<std::string> names;
    bool of_prefixes;  // if it is false for a prefix of a sequence, it is false for the whole
    size_t open;       // number of names that are not bound completely
    bool done = false;
  };
  /// A variable that conditions refer to.
  struct Name {
    std::vector<size_t> conditions;
    bool complete = false;  // bound completely
  };

  /// Marks the variable as bound completely; returns whether it was not.
  bool complete(const std::string& name);
  void reopen(const std::string& name);
  /// Runs `next` unless a condition on one of the names, which were just bound, does not hold.
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
  std::vector<std::string> records_;  // bound since conditions were last checked
  std::set<std::string> weights_;
  std::set<std::string> uniforms_;
};

/// Returns the sequences that a term refers to.
std::vector<const Term*> sequences_of(const Term& term);

}  // namespace isomer
