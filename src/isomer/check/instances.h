#pragma once
// Generates all small graphs that match a rule's source pattern.

#include <functional>
#include <map>
#include <set>

#include "isomer/ir/graph.h"
#include "isomer/rules/rule.h"

namespace isomer {

/// A source pattern with all variables made concrete. Values and nodes are in an order in which they can be built.
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

  /// Returns the graph whose outputs are the roots' results. Weights get random elements from `seed`.
  Result<Graph> build(uint64_t seed) const;
  /// Content hashes of the weights in the graph that build(seed) returns, and the weights' names.
  std::set<uint64_t> weight_hashes(uint64_t seed) const;
  std::map<uint64_t, std::string> weight_names(uint64_t seed) const;
  /// Returns the largest rank of a variable.
  size_t max_rank() const;
};

/// Returns a constant whose elements all equal the number (f64, f32, i64 or bool).
Tensor uniform_tensor(const TensorType& type, double number);
/// Returns the constant for a Uniform or Indices value.
Tensor constant_tensor(const Instance::Value& value);

/// The range of instances. All of them are generated, unless `sample` is set.
struct InstanceBounds {
  static constexpr size_t kAny = SIZE_MAX;

  DType element = DType::Double;          ///< of all variables for which an operator does not require another type
  size_t rank = 4;                        ///< the largest rank among the variables
  Ints extents = {1, 2, 3};               ///< of the variables, ascending; 0 only if results may be empty, too
  Ints spatial = {};                      ///< those of the axes from the third on, if not empty
  bool plain_windows = false;             ///< strides, dilations and pads are plain
  size_t max_sequence = 3;                ///< length of sequences, number of repetitions
  size_t max_non_default = kAny;          ///< maximum number of attributes that are not plain (attr_domains.h)
  size_t max_non_default_numbers = kAny;  ///< maximum number of those that proofs treat as unknown (generality.h)
  /// Maximum number of extents of the variables that are not 2; with `spatial`, along the first two axes.
  size_t max_others = kAny;
  /// Operands that broadcast to an earlier one may also have extents of 1, which are not counted.
  bool free_broadcasts = false;
  /// Variables and records of attributes for which one of several values is enough that give the node the same result
  /// (is_representative in generality.h).
  std::set<std::string> representatives = {};
  uint64_t sample = 0;  ///< if not 0: generates a random part of the instances, with this seed

  friend bool operator==(const InstanceBounds&, const InstanceBounds&) = default;
};

/// Calls `visit` for every instance within bounds until it returns false. Returns false if it stopped early: because of
/// `visit`, or after `max_steps` tried choices.
bool for_each_instance(const Rule& rule, const InstanceBounds& bounds, size_t max_steps,
                       const std::function<bool(const Instance&)>& visit);

}  // namespace isomer
