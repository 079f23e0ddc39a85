#pragma once
// All small graphs that a rule's source pattern describes.

#include <functional>
#include <set>

#include "isomer/ir/graph.h"
#include "isomer/rules/rule.h"

namespace isomer {

/// A source pattern with every variable made concrete. Values and nodes stand in the order in which they can be built.
struct Instance {
  struct Value {
    enum class Kind : uint8_t { Input, Weight, Uniform, Result };
    Kind kind = Kind::Input;
    TensorType type;
    double number = 0;  ///< of a Uniform
    std::string name;   ///< of the variable
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
  /// Content hashes of the weights in the graph that build(seed) gives.
  std::set<uint64_t> weight_hashes(uint64_t seed) const;
  /// The largest rank that a variable has.
  size_t max_rank() const;
};

/// A tensor of this (concrete) type whose elements all equal `number`.
Tensor uniform_tensor(const TensorType& type, double number);

/// What instances range over. Everything within is covered, unless `sampled`.
struct InstanceBounds {
  DType element = DType::Double;  ///< of all variables that an operator does not want otherwise
  size_t rank = 4;                ///< the largest rank among the variables
  int64_t max_extent = 3;
  size_t max_sequence = 3;  ///< length of sequences, number of repetitions
  size_t max_odd = 9;       ///< how many attributes are other than plain at once (attr_domains.h)
  uint64_t sample = 0;      ///< when not 0: the seed of a random part of the whole
};

/// Calls `visit` for every instance within bounds until it returns false. Returns false when it stopped early: at
/// `visit`'s wish, or after `max_steps` tried choices.
bool for_each_instance(const Rule& rule, const InstanceBounds& bounds, size_t max_steps,
                       const std::function<bool(const Instance&)>& visit);

}  // namespace isomer
