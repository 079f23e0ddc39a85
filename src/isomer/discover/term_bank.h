#pragma once
// The term bank: the values of small graphs, each term once, and which terms are equal.

#include <array>
#include <memory>
#include <unordered_map>

#include "isomer/discover/field_map.h"
#include "isomer/discover/term.h"
#include "isomer/rules/expr.h"

namespace isomer {

using TypeId = uint16_t;

/// Numbers the extents of values, and records which extents operators produce.
class TypeTable {
 public:
  explicit TypeTable(const Universe& universe) : universe_(universe) {}

  TypeId intern(const Ints& dims);
  const Ints& dims(TypeId type) const { return dims_[type]; }
  size_t elements(TypeId type) const { return elements_[type]; }
  size_t size() const { return dims_.size(); }

  struct Entry {
    std::vector<FieldMap> maps;  ///< one per result; none if the operator does not accept the operands
    std::vector<TypeId> types;
  };
  /// Returns operator `op` on operands of these types (`b` is 0 if there is only one operand); nullptr if compile() has
  /// not seen them.
  const Entry* find(uint32_t op, TypeId a, TypeId b) const;
  /// Like find(), but compiles the operator if necessary.
  const Entry& at(uint32_t op, TypeId a, TypeId b);
  /// Returns the first error of a kernel that does not compute in the field; its operator is treated as one that
  /// accepts no operands.
  const Status& status() const { return status_; }
  /// Returns the elements of a constant input of the universe.
  std::span<const Fp> constant(uint32_t input) const { return constants_.at(input); }
  TypeId constant_type(uint32_t input) const { return constant_types_.at(input); }
  void set_constant(uint32_t input, TypeId type, std::vector<Fp> value) {
    constant_types_[input] = type;
    constants_[input] = std::move(value);
  }
  /// Compiles every operator for all pairs of the types known now. New types that result are left to the next call.
  void compile();
  /// Fails with the first operator that accepts none of the possible operands: then a condition is probably wrong.
  /// Considers some larger graphs if smaller ones do not reach all operators.
  Status check_all_apply();

 private:
  std::optional<uint32_t> idle() const;

  const Universe& universe_;
  Status status_;
  std::vector<Ints> dims_;
  std::vector<size_t> elements_;
  std::unordered_map<uint64_t, std::unique_ptr<Entry>> entries_;
  std::unordered_map<uint32_t, std::vector<Fp>> constants_;
  std::unordered_map<uint32_t, TypeId> constant_types_;
};

/// The facts that conditions and attributes may query about operands of these extents.
class OperandFacts : public ValueFacts {
 public:
  explicit OperandFacts(std::span<const Ints> dims) {
    for (const Ints& each : dims) types_.emplace_back(DType::Double, Shape(each.begin(), each.end()));
  }
  const TensorType& type(ValueId value) const override { return types_[value]; }
  bool is_weight(ValueId) const override { return false; }
  const Tensor* constant(ValueId) const override { return nullptr; }

 private:
  std::vector<TensorType> types_;
};

struct BankTerm {
  static constexpr size_t kMaxNodes = 5;
  TermCode code;
  TermId first = 0;  ///< the first of the terms with its value: one with the fewest nodes
  InputOrder inputs;
  std::array<TermId, kMaxNodes> nodes = {};  ///< ascending; each node by the first term that is its result
  uint8_t size = 0;                          ///< number of nodes; several results of one node count once
  TypeId type = 0;
  uint32_t value = 0;  ///< index of the first element of its value; kNoStoredValue if it is not stored
  static constexpr uint32_t kNoStoredValue = UINT32_MAX;
};

class TermBank {
 public:
  /// Returns a bank with only the inputs, whose values are drawn with `seed`. Fails if a constant cannot be evaluated,
  /// an input is larger than 4096 elements, or there are more than 31 inputs or 254 operators.
  static Result<TermBank> make(const Universe& universe, uint64_t seed = 1);

  const Universe& universe() const { return *universe_; }
  TypeTable& types() { return *types_; }
  const TypeTable& types() const { return *types_; }
  size_t size() const { return terms_.size(); }
  const BankTerm& at(TermId id) const { return terms_[id]; }
  /// Returns the terms of one size and type.
  std::span<const TermId> of(size_t nodes, TypeId type) const;
  /// Returns the terms that contain this node (of the sizes for which add() was called with `keep`).
  std::span<const TermId> with_node(TermId node) const;

  /// Returns the first term whose value has this fingerprint.
  std::optional<TermId> find(uint64_t fingerprint) const;
  /// Returns the value of a term: the stored one, or computed into `scratch`.
  const Fp* value(TermId id, std::vector<Fp>& scratch) const;
  uint64_t fingerprint(TypeId type, const Fp* value) const;
  TypeId type_of(TermCode code) const;

  struct NewTerm {
    TermCode code;
    uint64_t fingerprint;
  };
  /// Adds the terms of `nodes` nodes, sorted by code. `keep`: stores their values, and which terms contain which nodes.
  /// Returns the number of new values.
  size_t add(size_t nodes, std::span<const NewTerm> made, bool keep);

  /// Returns the number of distinct nodes in both terms together.
  size_t union_size(TermId a, TermId b) const;
  /// Returns whether the term with the first equal operands in place of these is different and has at most `nodes`
  /// nodes: then equalities of that term imply those of this one.
  bool implied(TermCode code, size_t nodes) const;
  /// Returns the inputs that a term reads, by first occurrence.
  InputOrder inputs_of(TermCode code) const;
  /// Returns whether interchangeable inputs occur in their order. Every term has a renaming that satisfies this.
  bool canonical(InputOrder inputs) const;

 private:
  explicit TermBank(const Universe& universe) : universe_(&universe), types_(std::make_unique<TypeTable>(universe)) {}
  const TypeTable::Entry& entry_of(TermCode code) const;
  const Fp* computed(TermCode code, std::vector<Fp>& scratch) const;
  /// Returns whether the value is new.
  bool store(BankTerm made, const Fp* value, uint64_t fingerprint);
  void index(TermId id);

  const Universe* universe_;
  std::unique_ptr<TypeTable> types_;
  std::vector<BankTerm> terms_;
  std::vector<Fp> values_;
  std::unordered_map<uint64_t, TermId> by_fingerprint_;
  std::vector<std::vector<std::vector<TermId>>> by_size_and_type_;
  std::unordered_map<TermId, std::vector<TermId>> with_node_;
};

}  // namespace isomer
