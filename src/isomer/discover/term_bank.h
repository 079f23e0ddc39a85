#pragma once
// The term bank: what small graphs compute, each term once, and which terms compute the same.

#include <array>
#include <memory>
#include <unordered_map>

#include "isomer/discover/field_map.h"
#include "isomer/discover/term.h"

namespace isomer {

using TypeId = uint16_t;

/// Extents by number, and what operators make of them.
class TypeTable {
 public:
  explicit TypeTable(const Universe& universe) : universe_(universe) {}

  TypeId intern(const Ints& dims);
  const Ints& dims(TypeId type) const { return dims_[type]; }
  size_t elements(TypeId type) const { return elements_[type]; }
  size_t size() const { return dims_.size(); }

  struct Entry {
    std::vector<FieldMap> maps;  ///< a result each; none where the operator does not apply
    std::vector<TypeId> types;
  };
  /// Operator `op` on operands of these types (`b` is 0 where there is one operand). Null until compile() has seen
  /// them.
  const Entry* find(uint32_t op, TypeId a, TypeId b) const;
  /// As find(), but compiles what it has not seen.
  const Entry& at(uint32_t op, TypeId a, TypeId b);
  /// The first error of a kernel that does not compute in the field; its operator counts as one that does not apply.
  const Status& status() const { return status_; }
  /// The elements of a constant input of the universe.
  std::span<const Fp> constant(uint32_t input) const { return constants_.at(input); }
  TypeId constant_type(uint32_t input) const { return constant_types_.at(input); }
  void set_constant(uint32_t input, TypeId type, std::vector<Fp> value) {
    constant_types_[input] = type;
    constants_[input] = std::move(value);
  }
  /// Compiles every operator for all pairs of the types known now. New types that come of it wait for the next call.
  void compile();
  /// Fails with the first operator that takes none of the operands that come up: a condition says what was not meant.
  /// Looks at some larger graphs where smaller ones do not reach all operators.
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

struct BankTerm {
  static constexpr size_t kMaxNodes = 5;
  TermCode code;
  TermId least = 0;  ///< the first of the terms that have its value: one of the fewest nodes
  InputOrder inputs;
  std::array<TermId, kMaxNodes> nodes = {};  ///< ascending: each by the first term that is its result
  uint8_t size = 0;                          ///< nodes; results of one node count once
  TypeId type = 0;
  uint32_t value = 0;  ///< where its value stands, in elements; kNoValue where it is not kept
  static constexpr uint32_t kNoStoredValue = UINT32_MAX;
};

class TermBank {
 public:
  /// The inputs alone. Values are those of `seed`. Fails when a constant cannot be evaluated, an input is larger than
  /// 4096 elements, or there are more than 15 inputs or 254 operators.
  static Result<TermBank> make(const Universe& universe, uint64_t seed = 1);

  const Universe& universe() const { return *universe_; }
  TypeTable& types() { return *types_; }
  const TypeTable& types() const { return *types_; }
  size_t size() const { return terms_.size(); }
  const BankTerm& at(TermId id) const { return terms_[id]; }
  /// Terms of one size and type.
  std::span<const TermId> of(size_t nodes, TypeId type) const;
  /// Terms that have this node (of the sizes that add() was told to keep).
  std::span<const TermId> with_node(TermId node) const;

  /// The first term whose value has this fingerprint.
  std::optional<TermId> find(uint64_t fingerprint) const;
  /// The value of a term: where it is kept, or computed into `scratch`.
  const Fp* value(TermId id, std::vector<Fp>& scratch) const;
  uint64_t fingerprint(TypeId type, const Fp* value) const;
  TypeId type_of(TermCode code) const;

  struct NewTerm {
    TermCode code;
    uint64_t fingerprint;
  };
  /// Adds the terms of `nodes` nodes, sorted by code. `keep`: their values, and which terms have which nodes.
  /// Returns how many values are new.
  size_t add(size_t nodes, std::span<const NewTerm> made, bool keep);

  /// How many nodes both terms have together.
  size_t union_size(TermId a, TermId b) const;
  /// Whether the term with the least operands instead has at most `nodes` nodes, and is another one: then what is said
  /// of that one says all of this.
  bool implied(TermCode code, size_t nodes) const;
  /// The inputs that a term reads, by first occurrence.
  InputOrder inputs_of(TermCode code) const;
  /// Whether interchangeable inputs occur in their order: of all renamings of a term, some have this.
  bool canonical(InputOrder inputs) const;

 private:
  explicit TermBank(const Universe& universe) : universe_(&universe), types_(std::make_unique<TypeTable>(universe)) {}
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
