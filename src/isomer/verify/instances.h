#pragma once
// All small graphs that a rule's source pattern describes.

#include <functional>
#include <map>
#include <set>

#include "isomer/ir/graph.h"
#include "isomer/rules/rule.h"

namespace isomer {

/// A source pattern with every variable made concrete. Values and nodes stand in the order in which they can be built.
struct Instance {
  struct Value {
    enum class Kind : uint8_t {
      Input,
      Weight,   // a constant; the comparison gives it random elements
      Uniform,  // a constant whose elements all equal `number`
      Indices,  // a constant whose elements are `indices`
      Result,
    };
    Kind kind = Kind::Input;
    TensorType type;
    double number = 0;
    std::string name;  ///< of the variable
    Ints indices = {};
  };
  struct Node {
    const OpDef* op;
    Attrs attrs;
    std::vector<ValueId> operands;
    ValueId first_result;
    uint32_t num_results;
  };
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<size_t> roots;  ///< nodes

  /// The graph whose outputs are the roots' results. Weights get random elements from `seed`.
  Result<Graph> build(uint64_t seed) const;
  /// Content hashes of the weights in the graph that build(seed) gives; and what they are called.
  std::set<uint64_t> weight_hashes(uint64_t seed) const;
  std::map<uint64_t, std::string> weight_names(uint64_t seed) const;
  /// The largest rank that a variable has.
  size_t max_rank() const;
};

/// The constant that a Uniform or Indices value stands for.
Tensor constant_tensor(const Instance::Value& value);

/// What instances range over. Everything within is covered, unless `sample` is set.
struct InstanceBounds {
  static constexpr size_t kAny = SIZE_MAX;

  DType element = DType::Double;  ///< of all variables that an operator does not want otherwise
  size_t rank = 4;                ///< the largest rank among the variables
  Ints extents = {1, 2, 3};       ///< of the variables
  size_t max_sequence = 3;        ///< length of sequences, number of repetitions
  size_t max_odd = kAny;          ///< how many attributes are other than plain at once (attr_domains.h)
  size_t max_odd_numbers = kAny;  ///< of them, how many are of those that proofs are general in (generality.h)
  size_t max_others = kAny;       ///< how many extents of the variables are other than 2 at once
  /// Operands that broadcast to an earlier one may have extents of 1 beside `extents`, which do not count.
  bool free_broadcasts = false;
  uint64_t sample = 0;  ///< when not 0: the seed of a random part of the whole

  friend bool operator==(const InstanceBounds&, const InstanceBounds&) = default;
};

/// Calls `visit` for every instance within bounds until it returns false. Returns false when it stopped early: at
/// `visit`'s wish, or after `max_steps` tried choices.
bool for_each_instance(const Rule& rule, const InstanceBounds& bounds, size_t max_steps,
                       const std::function<bool(const Instance&)>& visit);

}  // namespace isomer
